def weights(lr, epoch):
    return f"{lr} after {epoch}\n"
