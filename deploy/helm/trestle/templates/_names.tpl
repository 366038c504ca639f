{{- /* Names and labels. Each takes a list: the chart's context and the name of a process. */ -}}

{{- define "trestle.name" -}}
{{- $root := index . 0 -}}
{{- printf "%s-%s" (trunc 40 $root.Release.Name | trimSuffix "-") (index . 1) -}}
{{- end }}

{{- define "trestle.selector" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{- define "trestle.labels" -}}
{{- $root := index . 0 -}}
{{ include "trestle.selector" . }}
app.kubernetes.io/name: trestle
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version }}
{{- end }}

{{- /* The address of a process for the others: takes a list of the chart's context, the name and the port. */ -}}
{{- define "trestle.origin" -}}
http://{{ include "trestle.name" . }}:{{ index . 2 }}
{{- end }}

{{- /* The volume of files: takes the chart's context. */ -}}
{{- define "trestle.filesClaim" -}}
{{- default (include "trestle.name" (list . "files")) .Values.files.volume.existingClaim -}}
{{- end }}
