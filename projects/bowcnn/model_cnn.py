"""A convolution over the embeddings of a document's words, in PyTorch: each filter looks at
WIDTH words in a row, and its greatest answer in a document counts."""

import torch
from torch import nn

WIDTH, FILTERS = 3, 64
OPTIMIZERS = {
    "sgd": lambda p, decay: torch.optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=decay),
    "adagrad": lambda p, decay: torch.optim.Adagrad(p, lr=0.05, weight_decay=decay),
    "adam": lambda p, decay: torch.optim.Adam(p, lr=0.005, weight_decay=decay),
}


class Model(nn.Module):
    def __init__(self, words, classes, nemb, dropoutrate, optimizer, decay, seed):
        super().__init__()
        torch.manual_seed(int(seed))
        torch.use_deterministic_algorithms(True)
        self.embed = nn.Embedding(words, nemb, padding_idx=0)
        self.convolve = nn.Conv1d(nemb, FILTERS, WIDTH)
        self.dropout = nn.Dropout(dropoutrate)
        self.classify = nn.Linear(FILTERS, classes)
        self.optimizer = OPTIMIZERS[optimizer](self.parameters(), decay)

    def forward(self, documents):
        longest = max([WIDTH] + [len(d) for d in documents])
        padded = torch.zeros((len(documents), longest), dtype=torch.long)
        for row, document in zip(padded, documents):
            row[: len(document)] = torch.from_numpy(document)
        answers = self.convolve(self.embed(padded).transpose(1, 2))
        return self.classify(self.dropout(torch.relu(answers).amax(dim=2)))

    def predict(self, documents):
        """Returns the number of the class of each document."""
        self.eval()
        with torch.no_grad():
            return self(documents).argmax(dim=1).numpy()

    def fit(self, documents, labels):
        """Makes one step, and returns the mean loss before it."""
        self.train()
        loss = nn.functional.cross_entropy(self(documents), torch.from_numpy(labels))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()
