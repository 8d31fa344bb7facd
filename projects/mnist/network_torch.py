"""The network in PyTorch: a hidden layer of rectified linear units, trained by Adam."""

import os

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # for deterministic results on GPUs

import torch
from torch import nn


class Network:
    def __init__(self, inputs, units, classes, seed, gpu):
        """gpu is the number of a GPU, or below 0 for the CPU."""
        if gpu >= torch.cuda.device_count():
            raise ValueError(
                "--gpu %d: PyTorch finds %d GPUs here: name one from 0, or -1 for the CPU"
                % (gpu, torch.cuda.device_count())
            )
        torch.manual_seed(seed)
        torch.use_deterministic_algorithms(True)
        self.device = torch.device("cpu" if gpu < 0 else "cuda:%d" % gpu)
        self.model = nn.Sequential(nn.Linear(inputs, units), nn.ReLU(), nn.Linear(units, classes))
        self.model.to(self.device)
        self.adam = torch.optim.Adam(self.model.parameters())

    def state(self):
        """Returns everything that the next batches depend on, as numpy's arrays by name."""
        tensors = {"model." + name: t for name, t in self.model.state_dict().items()}
        for number, moments in self.adam.state_dict()["state"].items():
            tensors.update({"adam.%d.%s" % (number, name): t for name, t in moments.items()})
        return {name: tensor.cpu().numpy() for name, tensor in tensors.items()}

    def restore(self, state):
        model, moments = {}, {}
        for name, array in state.items():
            kind, _, rest = name.partition(".")
            if kind == "model":
                model[rest] = torch.from_numpy(array)
            elif kind == "adam":
                number, _, moment = rest.partition(".")
                moments.setdefault(int(number), {})[moment] = torch.from_numpy(array)
        self.model.load_state_dict(model)
        self.adam.load_state_dict({**self.adam.state_dict(), "state": moments})

    def evaluate(self, images, classes):
        """Returns the sum of the losses, and how many images are classified correctly."""
        with torch.no_grad():
            loss, correct = self.judge(images, classes)
        return loss.item(), correct

    def train(self, images, classes):
        """Makes one step of Adam, and returns what evaluate returned before it."""
        loss, correct = self.judge(images, classes)
        self.adam.zero_grad()
        (loss / len(classes)).backward()
        self.adam.step()
        return loss.item(), correct

    def judge(self, images, classes):
        scores = self.model(torch.from_numpy(images).to(self.device))
        classes = torch.from_numpy(classes).to(self.device)
        loss = nn.functional.cross_entropy(scores, classes, reduction="sum")
        return loss, int((scores.argmax(dim=1) == classes).sum())
