"""Answers to lesson 10 that must pass, and answers that must fail with the words for their mistake.

Written as learners write, not as the checks imitate them.
"""

import re

import torch.nn.functional as F


def schedule_if(step, steps, warmup, peak):
    if step < warmup:
        return peak * step / warmup
    if step >= steps:
        return 0.0
    return peak * (1 - (step - warmup) / (steps - warmup))


def schedule_min(step, steps, warmup, peak):
    return peak * max(0, min(step / max(1, warmup) if step < warmup else 1, (steps - step) / (steps - warmup)))


def schedule_falls(step, steps, warmup, peak):
    return peak * (1 - step / steps)


def schedule_stays(step, steps, warmup, peak):
    return peak if step >= warmup else peak * step / warmup


def schedule_jumps(step, steps, warmup, peak):
    return peak * step / warmup if step < warmup else peak * (steps - step) / steps


def schedule_up_again(step, steps, warmup, peak):
    return peak * step / warmup if step < warmup else peak * (step - warmup) / (steps - warmup)


def schedule_share(step, steps, warmup, peak):
    return step / warmup if step < warmup else (steps - step) / (steps - warmup)


def schedule_early(step, steps, warmup, peak):
    return peak * (step + 1) / warmup if step < warmup else peak * (steps - step) / (steps - warmup)


def key(text):
    return re.sub(r"\s+", " ", text).strip().casefold()


def leaks_set(train, test):
    seen = set(map(key, train))
    return [text for text in test if key(text) in seen]


def leaks_loop(train, test):
    found = []
    for text in test:
        for other in train:
            if text.lower().split() == other.lower().split():
                found.append(text)
                break
    return found


def leaks_exact(train, test):
    return [text for text in test if text in train]


def leaks_lower(train, test):
    small = [text.lower() for text in train]
    return [text for text in test if text.lower() in small]


def leaks_spaces(train, test):
    words = [text.split() for text in train]
    return [text for text in test if text.split() in words]


def leaks_in_small_letters(train, test):
    return [key(text) for text in test if key(text) in set(map(key, train))]


def leaks_of_train(train, test):
    return leaks_set(test, train)


def leaks_once(train, test):
    return list(dict.fromkeys(leaks_set(train, test)))


def leaks_clean(train, test):
    return [text for text in test if key(text) not in set(map(key, train))]


def leaks_number(train, test):
    return len(leaks_set(train, test))


def epoch_plain(make, batches):
    model, optimizer = make()
    losses = []
    for inputs, labels in batches:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(inputs), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def epoch_clear_last(make, batches):
    model, optimizer = make()
    losses = []
    for inputs, labels in batches:
        loss = -F.log_softmax(model(inputs), dim=1)[range(len(labels)), labels].mean()
        loss.backward()
        optimizer.step()
        model.zero_grad()
        losses.append(float(loss))
    return losses


def epoch_adds_up(make, batches):
    model, optimizer = make()
    losses = []
    for inputs, labels in batches:
        loss = F.cross_entropy(model(inputs), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def epoch_clears_too_late(make, batches):
    model, optimizer = make()
    losses = []
    for inputs, labels in batches:
        loss = F.cross_entropy(model(inputs), labels)
        loss.backward()
        optimizer.zero_grad()
        optimizer.step()
        losses.append(loss.item())
    return losses


def epoch_without_step(make, batches):
    model, optimizer = make()
    return [F.cross_entropy(model(inputs), labels).item() for inputs, labels in batches]


def epoch_softmax(make, batches):
    model, optimizer = make()
    losses = []
    for inputs, labels in batches:
        optimizer.zero_grad()
        loss = F.cross_entropy(F.softmax(model(inputs), dim=1), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def epoch_after(make, batches):
    model, optimizer = make()
    losses = []
    for inputs, labels in batches:
        optimizer.zero_grad()
        F.cross_entropy(model(inputs), labels).backward()
        optimizer.step()
        losses.append(F.cross_entropy(model(inputs), labels).item())
    return losses


def epoch_mean(make, batches):
    losses = epoch_plain(make, batches)
    return sum(losses) / len(losses)


def schedule_below(step, steps, warmup, peak):
    if step < warmup:
        return peak * step / warmup
    return peak * (steps - step) / (steps - warmup)


def schedule_by_steps(step, steps, warmup, peak):
    return peak * step / warmup if step < warmup else max(0.0, peak - peak * (step - warmup) / steps)


def schedule_one_early(step, steps, warmup, peak):
    last = steps - 1
    return peak * step / warmup if step < warmup else peak * max(0, last - step) / (last - warmup)


def epoch_new_model(make, batches):
    losses = []
    for inputs, labels in batches:
        model, optimizer = make()
        loss = F.cross_entropy(model(inputs), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def epoch_steps_at_the_end(make, batches):
    model, optimizer = make()
    losses = []
    for inputs, labels in batches:
        loss = F.cross_entropy(model(inputs), labels)
        loss.backward()
        losses.append(loss.item())
    optimizer.step()
    return losses


def leaks_sets_of_words(train, test):
    seen = [set(text.lower().split()) for text in train]
    return [text for text in test if set(text.lower().split()) in seen]


def leaks_no_space(train, test):
    seen = {"".join(text.lower().split()) for text in train}
    return [text for text in test if "".join(text.lower().split()) in seen]


def leaks_no_punctuation(train, test):
    seen = {tuple(re.findall(r"\w+", text.lower())) for text in train}
    return [text for text in test if tuple(re.findall(r"\w+", text.lower())) in seen]


def leaks_two_spaces(train, test):
    def tidy(text):
        return text.strip().lower().replace("  ", " ")

    seen = set(map(tidy, train))
    return [text for text in test if tidy(text) in seen]


RIGHT = {
    "10-leaks": [leaks_set, leaks_loop],
    "10-find-the-bug": [epoch_plain, epoch_clear_last],
    "10-schedule": [schedule_if, schedule_min],
}
WRONG = {
    "10-leaks": [
        (leaks_exact, "letter by letter"),
        (leaks_lower, "leave the spaces"),
        (leaks_spaces, "leave capital letters"),
        (leaks_in_small_letters, "as they stand there"),
        (leaks_of_train, "These are the texts of `train`"),
        (leaks_once, "leaks twice"),
        (leaks_clean, "the clean ones"),
        (leaks_number, "You return their number"),
        (leaks_sets_of_words, "The order of the words"),
        (leaks_no_space, "`nowhere`"),
        (leaks_no_punctuation, "You leave punctuation out"),
        (leaks_two_spaces, "two spaces for one"),
    ],
    "10-find-the-bug": [
        (epoch_adds_up, "Gradients add up"),
        (epoch_clears_too_late, "The weights do not change from batch"),
        (epoch_without_step, "The weights do not change from batch"),
        (epoch_softmax, "a softmax is taken twice"),
        (epoch_after, "losses after the update"),
        (epoch_mean, "the mean of the losses"),
        (epoch_new_model, "`make()` stands inside it"),
        (epoch_steps_at_the_end, "stands outside the loop"),
    ],
    "10-schedule": [
        (schedule_falls, "only falls"),
        (schedule_stays, "stays at the peak"),
        (schedule_jumps, "jumps below the peak"),
        (schedule_up_again, "steps that are *left*"),
        (schedule_share, "The peak is missing"),
        (schedule_early, "The first step has the rate 0"),
        (schedule_below, "below 0. It stays at 0"),
        (schedule_by_steps, "so many steps lie between"),
        (schedule_one_early, "one step too early"),
    ],
}
