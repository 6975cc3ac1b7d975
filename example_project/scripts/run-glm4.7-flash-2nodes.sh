#!/usr/bin/env bash
# GLM-4.7-Flash on two nodes of eight GPUs: tensor parallel in a node, pipeline over both.
# WORKERS names the other node; it joins over ssh.
set -euo pipefail

SCRIPTS="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)"
CHECKPOINT="${CHECKPOINT:-/data/GLM-4.7-Flash}"
HEAD="${MASTER_ADDR:-$(hostname -I | awk '{print $1}')}"

pkill -9 -f ropeframe || true
ray stop --force
ray start --head --node-ip-address "$HEAD" --num-gpus 8 --disable-usage-stats
for worker in ${WORKERS:-}; do
    ssh "root@$worker" "ray start --address=$HEAD:6379 --num-gpus 8" &
done
wait

mapfile -t MODEL_ARGS < <(python3 "$SCRIPTS/model_args.py" glm4.7-flash)

CHECKPOINT_ARGS=(--hf-checkpoint "$CHECKPOINT" --load "${CHECKPOINT}_torch_dist")
PARALLEL_ARGS=(
    --tensor-model-parallel-size 4
    --pipeline-model-parallel-size 2
    --expert-model-parallel-size 8
    --sequence-parallel
)
TRAIN_ARGS=(
    --micro-batch-size 1
    --global-batch-size 64
    --seq-length 8192
    --max-position-embeddings 8192
    --lr 1e-6
    --rollout-batch-size 64
)

NVLINK=$(nvidia-smi topo -m 2>/dev/null | grep -c 'NV[0-9]' || true)
RUNTIME_ENV="{\"env_vars\": {\"CUDA_DEVICE_MAX_CONNECTIONS\": \"1\", \"NCCL_NVLS_ENABLE\": \"$((NVLINK > 0))\"}}"

ray job submit --address="http://$HEAD:8265" --runtime-env-json="$RUNTIME_ENV" \
    -- python3 train.py \
    "${MODEL_ARGS[@]}" "${CHECKPOINT_ARGS[@]}" "${PARALLEL_ARGS[@]}" "${TRAIN_ARGS[@]}"
