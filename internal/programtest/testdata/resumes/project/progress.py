def begin(lr):
    return {"lr": lr, "epoch": 0, "seen": []}
