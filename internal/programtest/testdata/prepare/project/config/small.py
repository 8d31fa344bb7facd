epochs = 2
out_dir = "out-letters"
