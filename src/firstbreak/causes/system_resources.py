"""Causes in the system's resources."""

from __future__ import annotations

from ..cause import Cause, Experiment, Fix
from ..finding import Component, Link

TRACE = Experiment("phase trace", "Record a time trace of one step: generation, reward, update, sync.", "profile")

CAUSES: tuple[Cause, ...] = (
    Cause(
        name="throughput-loss",
        link=Link.SYSTEM_RESOURCES,
        component=Component.SYSTEM,
        summary="Steps take longer for the same work, more and more or now and then.",
        explains={"untimed-stalls": 3.0, "throughput-decay": 2.5, "host-memory-growth": 1.0, "step-time-tail": 1.0},
        experiments=(TRACE,),
        fixes=(Fix("Profile a batch of fixed length; look for leaks, growing logs, and what slow steps wait for."),),
    ),
    Cause(
        name="memory-leak",
        link=Link.SYSTEM_RESOURCES,
        component=Component.SYSTEM,
        summary="Memory grows without bound.",
        explains={"gpu-memory-growth": 2.5, "host-memory-growth": 2.5},
        experiments=(
            Experiment(
                "longest batch",
                "Run the longest batch that can occur, dry, and watch the peak.",
                "profile",
                command="firstbreak preflight memory PLAN",
            ),
        ),
        fixes=(Fix("First reduce micro-batch or sequence length; then shard (ZeRO, FSDP) or recompute."),),
    ),
    Cause(
        name="phase-bottleneck",
        link=Link.SYSTEM_RESOURCES,
        component=Component.SYSTEM,
        summary="One phase starves the others: generation, reward scoring, environment or sync.",
        explains={
            "phase-bottleneck": 2.5,
            "trainer-starved": 2.0,
            "gpu-idle": 2.0,
            "reward-latency-growth": 2.0,
            "generation-tail": 2.0,
            "step-time-tail": 1.0,
        },
        experiments=(TRACE,),
        fixes=(Fix("Rebalance samplers and trainers; score rewards in parallel; bound the longest generation."),),
        separate_with=("time/generate", "time/reward", "time/sync"),
    ),
    Cause(
        name="straggling-rank",
        link=Link.SYSTEM_RESOURCES,
        component=Component.SYSTEM,
        summary="One rank is slower than its peers, and all of them wait for it.",
        explains={"rank-straggler": 3.0, "trainer-starved": 0.5, "step-time-tail": 0.3, "throughput-decay": 0.3},
        experiments=(
            Experiment("swap the ranks", "Give the slow rank's data to another machine: what stays slow is the cause."),
        ),
        fixes=(
            Fix("Check the machine of that rank: clock speed, other users, disk, network."),
            Fix("Balance the work of the ranks by length, not by number of samples."),
        ),
    ),
    Cause(
        name="run-stalled",
        link=Link.SYSTEM_RESOURCES,
        component=Component.SYSTEM,
        summary="The run stopped writing before it ended: hang, straggler or crash.",
        explains={"run-stalled": 3.0},
        experiments=(
            Experiment("stack dump", "Dump the stacks of all ranks; look for one that waits alone.", "profile"),
        ),
        fixes=(Fix("Set time-outs on collectives; restart from the last checkpoint."),),
    ),
    Cause(
        name="exception",
        link=Link.SYSTEM_RESOURCES,
        component=Component.SYSTEM,
        summary="An exception ended training; its traceback says more than any curve.",
        explains={"training-died": 2.0},
        experiments=(
            Experiment(
                "replay the failed batch",
                "Run the update on the saved failed batch alone: if it raises again, batch and code are to blame.",
                "fixed_batch",
            ),
        ),
        fixes=(Fix("Read the traceback first; what the exception names comes before any setting."),),
    ),
    Cause(
        name="resumed-in-part",
        link=Link.SYSTEM_RESOURCES,
        component=Component.OPTIMISER,
        summary="A resume, or code on the way, replaced what an optimiser remembers: its moments are not its own.",
        explains={
            "optimiser-state-replaced": 3.0,
            "second-moment-fell": 1.5,
            "kl-overshoot": 0.3,
            "policy-jumps": 0.5,
            "grad-norm-explosion": 0.3,
        },
        experiments=(
            Experiment(
                "resume against uninterrupted",
                "Resume from a checkpoint and compare the first update with the uninterrupted run on the same batch.",
            ),
        ),
        fixes=(Fix("Save and restore optimiser moments, scheduler, scaler, normalisers, replay and RNG states."),),
    ),
    Cause(
        name="cache-too-small",
        link=Link.SYSTEM_RESOURCES,
        component=Component.ROLLOUT,
        summary="The key-value cache cannot hold the sequences in flight; they are computed again and again.",
        explains={"kv-preemption": 3.0, "throughput-decay": 0.7, "step-time-tail": 0.5},
        experiments=(
            Experiment(
                "half the sequences", "Halve the sequences in flight: tokens per second must not fall.", "profile"
            ),
        ),
        fixes=(Fix("Fewer sequences at once, more memory for the cache, or an fp8 cache."),),
    ),
)
