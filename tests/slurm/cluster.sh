# shellcheck shell=bash
# Sourced on the head of emulated nodes, inside env/slurm: a Slurm of its own, with munge, a controller on node0
# and a daemon on node1 … node(N-1). All of it ends with the head.
#   low   the default partition; its jobs are requeued for those of   high, after a grace time
conf=$MEND_TEST_DIR/slurm
export SLURM_CONF=$conf/slurm.conf

on_node() { "$MEND_SOURCE/tests/harness/rsh" "node$1" "$2"; }

slurm_write_conf() { # NODES
    cat >"$SLURM_CONF" <<CONF
ClusterName=mend
SlurmctldHost=node0
SlurmUser=root
${MEND_SLURM_PLUGINS:+PluginDir=$MEND_SLURM_PLUGINS}
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=/tmp/munge.socket,cred_expire=5
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/linear
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,sched_min_interval=0,batch_sched_delay=0,bf_interval=1,requeue_delay=1
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
SlurmctldParameters=preempt_send_user_signal
ReturnToService=2
SlurmdTimeout=10
SlurmctldTimeout=10
MinJobAge=600
KillWait=5
JobRequeue=1
SlurmdParameters=config_overrides
Epilog=$MEND_SOURCE/contrib/slurm/mend-epilog
StateSaveLocation=/tmp/slurm.state
SlurmdSpoolDir=/tmp/slurm.spool
SlurmctldPidFile=/tmp/slurmctld.pid
SlurmdPidFile=/tmp/slurmd.pid
SlurmctldLogFile=$conf/ctld.log
SlurmdLogFile=$conf/%n.log
NodeName=node[1-$(($1 - 1))] CPUs=2 State=UNKNOWN
PartitionName=low Nodes=ALL Default=YES PriorityTier=1 GraceTime=120 MaxTime=INFINITE State=UP
PartitionName=high Nodes=ALL PriorityTier=10 PreemptMode=OFF MaxTime=INFINITE State=UP
CONF
    echo CgroupPlugin=disabled >"$conf/cgroup.conf"
}

slurm_start() { # NODES
    local k i munge
    mkdir -p "$conf" && chmod 755 "$conf"
    slurm_write_conf "$1"
    mungekey --create --keyfile="$conf/munge.key" && chmod 400 "$conf/munge.key" || return 1
    munge="munged --force --foreground --socket=/tmp/munge.socket --key-file=$conf/munge.key --pid-file=/tmp/munge.pid --log-file=/tmp/munge.log --seed-file=/tmp/munge.seed --num-threads=1"
    $munge >"$conf/munge0" 2>&1 &
    for ((k = 1; k < $1; k++)); do on_node $k "$munge" >"$conf/munge$k" 2>&1 & done
    mkdir -p /tmp/slurm.state
    for ((i = 0; i < 500; i++)); do munge -S /tmp/munge.socket -n >/dev/null 2>&1 && break; sleep 0.02; done
    slurmctld -D >"$conf/ctld.out" 2>&1 &
    for ((k = 1; k < $1; k++)); do
        on_node $k "mkdir -p /tmp/slurm.spool; until [ -S /tmp/munge.socket ]; do sleep 0.02; done; exec slurmd -D -N node$k -d $MEND_SLURM_STEPD" >"$conf/slurmd$k.out" 2>&1 &
    done
    for ((i = 0; i < 1000; i++)); do
        [ "$(sinfo -h -p low -t idle -o %D 2>/dev/null)" = $(($1 - 1)) ] && return 0
        sleep 0.05
    done
    echo "Slurm did not come up:"
    sinfo
    tail -5 "$conf"/*
    return 1
}

state_of() { scontrol -o show job "$1" 2>/dev/null | grep -o 'JobState=[A-Z_]*' | cut -d= -f2; }
restarts_of() { scontrol -o show job "$1" 2>/dev/null | grep -o 'Restarts=[0-9]*' | cut -d= -f2; }

# What jobs have left on nodes: processes, folders, shared memory. Epilogs may need a moment.
slurm_left() { # NODE…
    local k i left
    for ((i = 0; i < 300; i++)); do
        left=
        for k; do
            left+=$("$MEND_SOURCE/tests/harness/node" list "$k" capsule.openmpi)
            left+=$("$MEND_SOURCE/tests/harness/node" list "$k" mend-node)
            left+=$("$MEND_SOURCE/tests/harness/node" list "$k" mend)
            left+=$(on_node "$k" 'ls -d /tmp/mend* /dev/shm/* 2>/dev/null')
        done
        [ -n "$left" ] || return 0
        sleep 0.1
    done
    echo "$left"
}
