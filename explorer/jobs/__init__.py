"""Work that goes on in processes of its own: trainings and measurements.

A job is a folder, see `folder`. Its process holds the lock in it, which the system frees at its
end, and writes status.json every second. Nothing else knows of the job: a page, a second server, a
restarted one and the command line read the folder, and so find the job as it is.

    new          made, and never launched
    waiting      its process starts, or waits for its turn in the lane
    preparing    reads its data: a training
    running      does what it is for; asked to stop (the file `stop`, a signal) it still runs
    stopped      ended when asked to
    done         ended by itself; of a measurement only the report is left
    failed       ended by an error, which its status names
    interrupted  its process is gone: the heartbeat is old, or the process dead, and the lock free
    gone         its folder is deleted or moved: its process ends and writes nothing

    new ─► waiting ─► preparing ─► running ─► done
              │            │          │
              └────────────┴──────────┴─► stopped, failed, interrupted ─► waiting

A training resumes from its saved state; a measurement that is started again begins anew, but
pruning curves are resumed. Of the jobs in one lane one runs at a time, in the order of their
creation, see `queue`. Each device has two lanes: the folder of the runs and that of the
measurements, so a measurement never waits for a training.

May import `core`, `data`, `model`, `heads` and `training`. Only `training_worker` imports torch.
"""
