{{- /*
The environment of a process: what all have, then its own settings, then `env` of values.yaml. A later one replaces an earlier one.
A setting whose value is empty is left out. Takes the dict of "trestle.process".
*/ -}}
{{- define "trestle.env" -}}
{{- $root := .root -}}
{{- $users := include "trestle.origin" (list $root "users" 4001) -}}
{{- $shared := dict
  "HOST" "0.0.0.0"
  "METRICS_PORT" "9464"
  "DRAIN_DELAY_MS" (int64 $root.Values.drainDelayMs | toString)
  "TOKEN_PUBLIC_KEY_FILE" "/run/secrets/trestle/token-public.pem"
  "CLIENT_ID_KEY_FILE" "/run/secrets/trestle/client-id-key.pem"
-}}
{{- /* Subgraphs read each other's events. */ -}}
{{- $subgraphs := dict "users" 4001 "orders" 4002 "content" 4003 -}}
{{- if hasKey $subgraphs .name -}}
{{- $_ := set $shared "EVENTS_KEY_FILE" "/run/secrets/trestle/events-key.pem" -}}
{{- range $other, $port := omit $subgraphs .name -}}
{{- $_ := set $shared (printf "EVENTS_URL_%s" (upper $other)) (printf "%s/events" (include "trestle.origin" (list $root $other $port))) -}}
{{- end -}}
{{- end -}}
{{- if .files -}}
{{- $s3 := $root.Values.files.s3 -}}
{{- if $s3.bucket -}}
{{- $_ := mergeOverwrite $shared (dict "S3_BUCKET" $s3.bucket "S3_REGION" $s3.region "S3_ENDPOINT" $s3.endpoint) -}}
{{- else -}}
{{- $_ := set $shared "FILES_DIR" "/files" -}}
{{- end -}}
{{- end -}}
{{- if ne .name "users" -}}
{{- $_ := set $shared "REVOCATIONS_URL" (printf "%s/revocations" $users) -}}
{{- end -}}
{{- range $name, $value := mergeOverwrite $shared .env $root.Values.env .values.env }}
{{- if $value }}
- name: {{ $name }}
  {{- /* Helm reads every number as a float, and would write 1000000 as 1e+06. */}}
  value: {{ ternary ($value | int64) $value (kindIs "float64" $value) | toString | quote }}
{{- end }}
{{- end }}
{{- with .databaseSetting }}
- name: {{ . }}
  valueFrom:
    secretKeyRef: { name: {{ $root.Values.secrets.databases }}, key: {{ . }} }
{{- end }}
{{- range .serviceSettings }}
- name: {{ . }}
  valueFrom:
    secretKeyRef: { name: {{ $root.Values.secrets.services }}, key: {{ . }}, optional: true }
{{- end }}
{{- end }}
