# SPDX-License-Identifier: Apache-2.0
"""A Slurm cluster of one node, this machine, that lives in a folder: munged, slurmctld and slurmd on ports of
their own, run by the user who starts it. Nothing of the system's is read or changed."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

# Debian puts the daemons where only root's PATH looks.
PATH = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "scontrol", "squeue", "scancel")

# Most of what there is: Slurm sets a node aside that has less than it promised.
MEMORY_MB = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * 3 // 4 // 2**20

CONFIGURATION = """\
ClusterName=warpfold
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={daemon}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
MailProg=/bin/true
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=sched_interval=1,sched_min_interval=100000,batch_sched_delay=0
ReturnToService=2
KillWait=2
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} Boards=1 SocketsPerBoard=1 CoresPerSocket={cpus} ThreadsPerCore=1 \
RealMemory={memory} State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""

# By itself slurmd looks for control groups, which it then makes no use of, and gives up where none are mounted, as in
# a chroot.
CONTROL_GROUPS = "CgroupPlugin=cgroup/v1\nCgroupAutomount=no\n"


def missing_programs():
    return [name for name in PROGRAMS if shutil.which(name, path=PATH) is None]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Cluster:
    """Use it with `with`: it is up inside and gone after."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.daemons = []
        self.host = socket.gethostname().partition(".")[0]
        self.environment = {**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf"), "PATH": PATH}

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self):
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        key = self.folder / "munge.key"
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(1024))
        (self.folder / "slurm.conf").write_text(CONFIGURATION.format(
            host=self.host, controller=free_port(), daemon=free_port(), user=pwd.getpwuid(os.geteuid()).pw_name,
            folder=self.folder, cpus=os.cpu_count(), memory=MEMORY_MB), encoding="ascii")
        (self.folder / "cgroup.conf").write_text(CONTROL_GROUPS, encoding="ascii")
        # --force: it may be root, and its folder may be open to others.
        self.launch("munged", "--foreground", "--force", f"--socket={self.folder}/munge.socket",
                    f"--key-file={key}", f"--pid-file={self.folder}/munged.pid", f"--seed-file={self.folder}/munged.seed",
                    f"--log-file={self.folder}/munged.log")
        self.wait_for(lambda: (self.folder / "munge.socket").exists(), "munged")
        self.launch("slurmctld", "-D", "-c")
        self.wait_for(lambda: self.ask("scontrol", "ping").returncode == 0, "slurmctld")
        self.launch("slurmd", "-D", "-N", self.host)
        self.wait_for(lambda: self.ask("sinfo", "-h", "-o", "%T").stdout.strip() == "idle", "slurmd")

    def launch(self, program, *arguments):
        with open(self.folder / f"{program}.out", "wb") as log:
            self.daemons.append(subprocess.Popen([shutil.which(program, path=PATH), *arguments], stdout=log, stderr=log,
                                                 stdin=subprocess.DEVNULL, env=self.environment,
                                                 start_new_session=True))

    def ask(self, *command):
        return subprocess.run(command, capture_output=True, text=True, env=self.environment, check=False, timeout=60)

    def wait_for(self, ready, what):
        deadline = time.monotonic() + 60
        while not ready():
            if time.monotonic() > deadline or self.daemons[-1].poll() is not None:
                raise RuntimeError(f"{what} does not come up:\n{self.logs()}")
            time.sleep(0.1)

    def logs(self):
        return "\n".join(f"--- {file.name}\n" + file.read_text(encoding="utf-8", errors="replace")[-2000:]
                         for file in sorted([*self.folder.glob("*.log"), *self.folder.glob("*.out")]))

    def jobs(self):
        return self.ask("squeue", "-h", "-o", "%i").stdout.split()

    def stop(self):
        """Jobs first, so that nothing of theirs outlives slurmd; then the daemons, the last one first."""
        if len(self.daemons) == 3 and self.jobs():
            self.ask("scancel", *self.jobs())
            deadline = time.monotonic() + 30
            while self.jobs() and time.monotonic() < deadline:
                time.sleep(0.1)
        for daemon in reversed(self.daemons):
            daemon.send_signal(signal.SIGTERM)
            try:
                daemon.wait(timeout=30)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        self.daemons = []
