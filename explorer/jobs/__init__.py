"""Work in separate processes: trainings, measurements and fetches of models.

A job is a folder, see `folder`. Its process holds the lock in it, which the system frees at its
end, and writes status.json every second. The state is stored nowhere else: a page, a second server,
a restarted one and the command line all read the folder.

    new          created, and never launched
    waiting      its process starts, or waits for its turn in the lane
    preparing    reads its data: only a training
    running      trains or measures; after a stop request (the file `stop`, a signal) until it ends
    stopped      ended by a stop request
    done         ended by itself; of a measurement only the report is left
    failed       ended by an error, which its status names
    interrupted  its process is gone: the heartbeat is old, or the process dead, and the lock free
    gone         its folder is deleted or moved: its process ends and writes nothing

    new ─► waiting ─► preparing ─► running ─► done
              │            │          │
              └────────────┴──────────┴─► stopped, failed, interrupted ─► waiting

A training resumes from its saved state; a measurement that is started again begins anew. In one
lane, one job runs at a time, in the order of creation, see `queue`. Each device has two lanes: the
folder of the runs and that of the measurements, so a measurement never waits for a training. A
fetch waits for nothing.

May import `core`, `data`, `model`, `heads` and `training`. Only `training_worker` imports torch.
"""
