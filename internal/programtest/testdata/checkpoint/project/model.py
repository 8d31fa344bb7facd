def state(lr, epoch):
    return f"lr {lr}, epoch {epoch}\n"


def loss(lr, epochs):
    return round(lr / epochs, 3)
