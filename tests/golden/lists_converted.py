import autograph.runtime as ag


SEEN = []


class Stack:
    def __init__(self):
        ag.set_attr(self, 'items', [])

    @ag.converted
    def push(self, x):
        ag.call_in(self, 'items', 'append')(x)

    @ag.converted
    def pop(self):
        return ag.call_in(self, 'items', 'pop')()

    def __len__(self):
        return ag.len(self.items)


@ag.converted
def positive(v):
    found = []

    def body(x, found):
        return ag.cond(x > 0, lambda found: ag.append(found, x), ag.keep, found)
    found = ag.for_loop(v, body, found)
    return found, ag.len(found)


@ag.converted
def by_sign(v, table):
    def body(x):
        def then():
            ag.call_at(table, 'positive', 'append')(x)

        def orelse():
            ag.call_at(table, 'other', 'append')(x)
        ag.cond(x > 0, then, orelse)
    ag.for_loop(v, body)
    return ag.len(table['positive']), ag.len(v)


@ag.converted
def remembered(v):
    kept = []

    def note(x):
        ag.call_of(lambda: kept, 'append')(x)

    def body(x):
        note(x)
        ag.call_of(lambda: SEEN, 'append')(x)
    ag.for_loop(v, body)
    return ag.len(kept), ag.len(SEEN)
