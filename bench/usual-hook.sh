#!/usr/bin/env bash
# The usual way to write such a hook, for comparison in the benchmark: find, grep and jq, one after the other. It knows
# no owners, allows for no concurrent stops, and does not make sure that its count is on disk.
guard_limit=3
while IFS= read -r marker; do
  folder=$(dirname "$marker")
  guard="$folder/.postflight-loop-guard"
  if grep -q '"stop_hook_active"[[:space:]]*:[[:space:]]*true' "$marker"; then
    rm -f "$marker" "$guard"
    continue
  fi
  session=$(jq -r '.cc_session_id // ""' "$marker" 2>/dev/null)
  [ -n "$session" ] && [ "$session" != "${BENCH_SESSION-}" ] && continue
  count=0
  [ -f "$guard" ] && count=$(cat "$guard")
  if [ "$count" -ge "$guard_limit" ]; then
    rm -f "$marker" "$guard"
    continue
  fi
  echo $((count + 1)) > "$guard"
  reason=$(jq -r '.reason // "Postflight operations pending"' "$marker" 2>/dev/null)
  jq -cn --arg reason "$reason" '{decision: "block", reason: $reason}'
  exit 0
done < <(find specs -maxdepth 3 -name .postflight-pending -type f)
echo '{}'
