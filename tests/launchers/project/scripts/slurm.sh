#!/bin/bash
#SBATCH --nodes=2
module load cuda/12
source "$(dirname "$0")/models/flash.sh"
nodes=($(scontrol show hostnames "${SLURM_JOB_NODELIST:-}"))
head=${nodes[0]:-localhost}
srun --nodes 2 bash -c "python3 -m torch.distributed.run --master_addr $head pretrain.py ${MODEL_ARGS[*]}"
bash "$(dirname "$0")/evaluate.sh" 100
