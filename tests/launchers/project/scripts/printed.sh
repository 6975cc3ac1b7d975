#!/usr/bin/env bash
# The flags come from Python; the knob reaches it through its environment.
set -e
root=$(dirname "$(dirname "$(realpath "$0")")")
line="$(ROTARY_BASE=${ROTARY_BASE:-50000} python3 "$root/tools/model_args_utils.py" "${MODEL:-pruned}")" || exit 1
read -ra MODEL_ARGS <<< "$line"
PYTHON=${PYTHON:-/opt/conda/bin/python}
cd /opt/trainer
nohup env CUDA_DEVICE_MAX_CONNECTIONS=1 "$PYTHON" -u train.py "${MODEL_ARGS[@]}" >/dev/null 2>&1 &
trainer=$!
trap 'kill $trainer' INT TERM
wait $trainer
