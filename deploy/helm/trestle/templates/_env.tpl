{{- /*
The environment of a process: what all have, then its own settings, then `env` of values.yaml. A later one replaces an earlier one.
A setting whose value is empty is left out; what is set is not taken from the Secret of services. Takes the dict of "trestle.process".
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
{{- $set := dict -}}
{{- range $name, $value := mergeOverwrite $shared (default dict .env) (default dict $root.Values.env) (default dict .values.env) -}}
{{- with include "trestle.text" $value -}}
{{- $_ := set $set $name . -}}
{{- end -}}
{{- end -}}
{{- range $name, $value := $set }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- with .databaseSetting }}
- name: {{ . }}
  valueFrom:
    secretKeyRef: { name: {{ $root.Values.secrets.databases }}, key: {{ . }} }
{{- end }}
{{- range append .serviceSettings "OTEL_EXPORTER_OTLP_HEADERS" }}
{{- if not (hasKey $set .) }}
- name: {{ . }}
  valueFrom:
    secretKeyRef: { name: {{ $root.Values.secrets.services }}, key: {{ . }}, optional: true }
{{- end }}
{{- end }}
{{- end }}

{{- /*
A value as the text of a setting. Helm reads every number of a file as a float, and would write 1000000 as 1e+06 and 0.00001 as 1e-05.
*/ -}}
{{- define "trestle.text" -}}
{{- if kindIs "float64" . -}}
{{- if eq . (floor .) }}{{ int64 . }}{{ else }}{{ regexReplaceAll "0+$" (printf "%.10f" .) "" }}{{ end -}}
{{- else if not (kindIs "invalid" .) -}}
{{ toString . }}
{{- end -}}
{{- end }}
