SEEN = []


class Stack:
    def __init__(self):
        self.items = []

    def push(self, x):
        self.items.append(x)

    def pop(self):
        return self.items.pop()

    def __len__(self):
        return len(self.items)


def positive(v):
    found = []
    for x in v:
        if x > 0:
            found.append(x)
    return found, len(found)


def by_sign(v, table):
    for x in v:
        if x > 0:
            table["positive"].append(x)
        else:
            table["other"].append(x)
    return len(table["positive"]), len(v)


def remembered(v):
    kept = []

    def note(x):
        kept.append(x)

    for x in v:
        note(x)
        SEEN.append(x)
    return len(kept), len(SEEN)
