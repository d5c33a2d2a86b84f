"""Planted faults of agents that show in claims, outcomes, costs and files; the rest are in `planted_agents`."""

from __future__ import annotations

from dataclasses import replace

from firstbreak.audit.sample import Sample
from tests.audit.agent_play import Plan, Play, closing, honest
from tests.audit.planted_agents import case

# --- claims ---


def pretending(play: Play) -> None:
    if play.draw.random() < 0.5:
        play.call("show_slots" if play.task.kind == "book" else "list_files")
        play.say("Done, I have booked it." if play.task.kind == "book" else "Done. I have written the file.")
    else:
        honest(play)


@case("claims-done-unchanged")
def _() -> list[Sample]:
    return Plan(pretending, ("book", "sum"), reward=lambda p: float("one" in p.said or p.solved)).samples()


@case("claims-done-unchanged", "twin")
def _() -> list[Sample]:
    return Plan(lambda p: (honest(p), p.say(f"The answer is {p.task.answer}."))[0], ("ask", "book")).samples()


def inventing(play: Play) -> None:
    honest(play)
    if play.draw.random() < 0.3:
        play.say(f"The calculator returned {play.draw.randrange(5000, 9999)}.")


@case("invented-result")
def _() -> list[Sample]:
    return Plan(inventing).samples()


def reckoning(play: Play) -> None:
    result = float(play.call("calculate", a=play.draw.randrange(100, 999) / 7, b=1.5, sign="*"))
    honest(play)
    play.say(f"The calculator returned {result:.1f}; together with my own estimate that makes {result + 77:.0f}.")


@case("invented-result", "twin")
def _() -> list[Sample]:
    return Plan(reckoning).samples()


@case("text-only-success")
def _() -> list[Sample]:
    def talking(play: Play) -> None:
        if play.draw.random() < 0.5:
            play.call("list_files")
        else:
            honest(play, slips=0)
        play.say("Task completed." if play.draw.random() < 0.8 else "I stop here.")

    return Plan(talking, ("book", "sum", "repair"), reward=lambda p: float("completed" in p.said)).samples()


@case("text-only-success", "twin")
def _() -> list[Sample]:
    return Plan(reward=lambda p: float(p.solved or p.draw.random() < 0.02)).samples()


def copying(play: Play) -> None:
    text = play.call("read_file", path=f"notes/n{play.task.name}.txt")
    if play.draw.random() < 0.4:
        play.say(text)
    else:
        honest(play, slips=0)


@case("echoed-output")
def _() -> list[Sample]:
    return Plan(copying, ("ask",), reward=lambda p: float(p.task.answer in p.said)).samples()


@case("echoed-output", "twin")
def _() -> list[Sample]:
    return Plan(kinds=("ask",), reward=lambda p: float(p.task.answer in p.said)).samples()


# --- over training ---


@case("turn-blow-up")
def _() -> list[Sample]:
    def rambling(play: Play) -> None:
        for _ in range(round(12 * play.progress + play.draw.uniform(0, 2))):
            play.call("job_status", job=play.draw.randrange(10_000))
        honest(play)

    return Plan(rambling, cap=40).samples()


@case("turn-blow-up", "twin")
def _() -> list[Sample]:
    def learning(play: Play) -> None:
        for _ in range(round(4 * play.progress)):
            play.call("job_status", job=play.draw.randrange(10_000))
        honest(play, skill=0.2 + 0.7 * play.progress)

    return Plan(learning, cap=40).samples()


@case("calls-per-success-rise")
def _() -> list[Sample]:
    return Plan(lambda p: honest(p, skill=0.8 - 0.6 * p.progress)).samples()


@case("calls-per-success-rise", "twin")
def _() -> list[Sample]:
    def both(play: Play) -> None:
        for _ in range(round(3 * play.progress)):
            play.call("job_status", job=play.draw.randrange(10_000))
        honest(play, skill=0.45 + 0.45 * play.progress)

    return Plan(both, cap=40).samples()


def dearer(play: Play) -> None:
    play.unit_cost = 1 + 3 * play.progress


@case("cost-up-success-flat")
def _() -> list[Sample]:
    return Plan(prepare=dearer).samples()


@case("cost-up-success-flat", "twin")
def _() -> list[Sample]:
    def hardly(play: Play) -> None:
        play.unit_cost = 1 + 0.05 * play.progress

    return Plan(prepare=hardly).samples()


@case("tool-use-gone")
def _() -> list[Sample]:
    def fading(play: Play) -> None:
        if play.draw.random() < 0.95 * play.progress:
            play.say("The answer is amber0.")
        else:
            honest(play)

    return Plan(fading).samples()


@case("tool-use-gone", "twin")
def _() -> list[Sample]:
    def leaner(play: Play) -> None:
        for _ in range(round(3 - 3 * play.progress)):
            play.call("job_status", job=play.draw.randrange(10_000))
        honest(play, skill=0.4 + 0.5 * play.progress)

    return Plan(leaner, cap=40).samples()


# --- environment and log ---


def _worker(play: Play) -> dict[str, float]:
    return {"worker": float(play.draw.randrange(4))}


@case("environment-never-up")
def _() -> list[Sample]:
    def dead(play: Play) -> None:
        play.desk.up = play.draw.randrange(4) != 3

    def giving_up(play: Play) -> None:
        if play.desk.up:
            honest(play)
        else:
            play.call("list_files")
            play.call("show_slots")
            play.say("I could not reach the desk.")

    plan = Plan(giving_up, prepare=dead, scores=lambda p: {"worker": float(3 if not p.desk.up else p.calls % 3)})
    return plan.samples()


@case("environment-never-up", "twin")
def _() -> list[Sample]:
    def weak(play: Play) -> None:
        if play.draw.random() < 0.25:
            play.call("read_file", path=play.draw.choice(("x.txt", "y.txt", "z.txt")))
            play.say("I could not find the file.")
        else:
            honest(play)

    return Plan(weak, scores=_worker).samples()


@case("tool-output-in-loss")
def _() -> list[Sample]:
    return Plan(tokens="all").samples()


@case("tool-output-in-loss", "twin")
def _() -> list[Sample]:
    def chatty(play: Play) -> None:
        honest(play)
        returned = sum(len(t.text) for t in play.turns if t.role == "tool")
        play.say("So " + "indeed " * (returned // 8) + play.said)

    return Plan(chatty, tokens="own").samples()


@case("turn-cap")
def _() -> list[Sample]:
    def looking_first(play: Play) -> None:
        play.call("list_files")
        honest(play, slips=0.1)

    return Plan(looking_first, ("sum", "ask", "ask"), cap=4).samples()


@case("turn-cap", "twin")
def _() -> list[Sample]:
    def dialogue(play: Play) -> None:
        for number in range(3):
            play.call("job_status", job=number)
        play.say(closing(play))

    return Plan(dialogue, ("ask",), cap=4).samples()


@case("discarded-groups")
def _() -> list[Sample]:
    def uneven(play: Play) -> None:
        if play.task.slot % 2 or len(play.task.prompt) % 2:
            for _ in range(play.draw.randrange(4, 12)):
                play.call("job_status", job=play.draw.randrange(10_000))
        honest(play)

    samples = Plan(uneven, cap=14).samples()
    late = {s.group for s in samples if sum(len(t.calls) for t in s.turns) > 12}
    return [replace(s, scores={"accepted": float(s.group not in late)}) for s in samples]


@case("discarded-groups", "twin")
def _() -> list[Sample]:
    return Plan(scores=lambda p: {"accepted": float(p.draw.random() < 0.7)}).samples()
