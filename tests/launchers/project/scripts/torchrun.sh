#!/bin/bash
# A command line that is put together as a text, and a log beside it.
set -u
source scripts/models/flash.sh
logs="logs/$(date +%F)"
mkdir -p "$logs"
cat > "$logs/data.yaml" <<EOF
batch: $((8 * 4))
layers: $LAYERS
EOF
launcher="torchrun --nproc_per_node ${GPUS:-8} --nnodes 1"
run="$launcher pretrain.py ${MODEL_ARGS[*]} --data $logs/data.yaml"
echo "$run" | tee "$logs/command.txt"
eval "$run --seed 1" > "$logs/out.txt" 2>&1
status=$?
exec python3 -m tools.report --status $status
