#!/bin/bash
# Training on two nodes: Ray is started on both, then the job is handed in.

pkill -9 sglang
sleep 3
ray stop --force
pkill -9 python || true

set -euxo pipefail

export PYTHONUNBUFFERED=1
links=$(nvidia-smi topo -m 2>/dev/null | grep -o 'NV[0-9][0-9]*' | wc -l)
if ((links > 0)); then nvls=1; else nvls=0; fi

here="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" &>/dev/null && pwd)"
source "$here/models/flash.sh"

CHECKPOINT_ARGS=(
    --hf-checkpoint "${CHECKPOINTS:-/data/checkpoints}/Flash"
    --save /data/runs/flash
)
PARALLEL_ARGS=(--tensor-model-parallel-size 4 --sequence-parallel)

export MASTER_ADDR=${MASTER_ADDR:-$(hostname -I | awk '{ print $1 }')}
ray start --head --node-ip-address "$MASTER_ADDR" --num-gpus 8 --disable-usage-stats
while read -r worker; do
    [[ $worker != "$MASTER_ADDR" ]] || continue
    ssh "root@$worker" "pkill -9 ray; ray start --address=$MASTER_ADDR:6379 --num-gpus 8" &
done < <(printf '%s\n' ${WORKERS:-10.0.0.2})
wait

environment="{
  \"env_vars\": {
    \"PYTHONPATH\": \"/opt/Megatron-LM/\",
    \"NCCL_NVLS_ENABLE\": \"$nvls\"
  }
}"

ray job submit --address="http://127.0.0.1:8265" \
    --runtime-env-json="$environment" \
    -- python3 train.py \
    --actor-num-nodes 2 \
    ${MODEL_ARGS[@]} \
    "${CHECKPOINT_ARGS[@]}" \
    ${PARALLEL_ARGS[@]} \
    "$@" 2>&1 | tee "flash-$(date +%Y%m%d).log"
