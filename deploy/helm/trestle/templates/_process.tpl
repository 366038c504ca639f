{{- /*
The objects of one process: Deployment, Service, PodDisruptionBudget and HorizontalPodAutoscaler.
Takes a dict: `root` (the chart's context), `name` (as in Kubernetes), `values` (the process's part of values.yaml), `folder` (of its main.js),
`port`, `env` (settings of its own), `keys` (the items of the Secret with the key files that it may read), `databaseSetting`,
`serviceSettings` (those that the Secret of other services may have) and `files` (whether it keeps files).
*/ -}}
{{- define "trestle.process" }}
{{- $root := .root }}
{{- $values := .values }}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "trestle.name" (list $root .name) }}
  labels: {{- include "trestle.labels" (list $root .name) | nindent 4 }}
spec:
  {{- if not $values.autoscaling.enabled }}
  replicas: {{ $values.replicas }}
  {{- end }}
  selector:
    matchLabels: {{- include "trestle.selector" (list $root .name) | nindent 6 }}
  strategy:
    rollingUpdate: { maxUnavailable: 0, maxSurge: 1 }
  template:
    metadata:
      labels: {{- include "trestle.labels" (list $root .name) | nindent 8 }}
    spec:
      automountServiceAccountToken: false
      terminationGracePeriodSeconds: {{ $root.Values.terminationGracePeriodSeconds }}
      {{- with $root.Values.imagePullSecrets }}
      imagePullSecrets: {{- toYaml . | nindent 8 }}
      {{- end }}
      securityContext:
        runAsNonRoot: true
        runAsUser: 1000
        runAsGroup: 1000
        fsGroup: 1000
        seccompProfile: { type: RuntimeDefault }
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: ScheduleAnyway
          labelSelector:
            matchLabels: {{- include "trestle.selector" (list $root .name) | nindent 14 }}
      {{- with $values.nodeSelector }}
      nodeSelector: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $values.tolerations }}
      tolerations: {{- toYaml . | nindent 8 }}
      {{- end }}
      containers:
        - name: {{ .name }}
          image: {{ printf "%s:%s" $root.Values.image.repository (default $root.Chart.AppVersion $root.Values.image.tag) | quote }}
          imagePullPolicy: {{ $root.Values.image.pullPolicy }}
          command: [node, --env-file=packages/service/node.env, {{ .folder }}/dist/bundle/main.js]
          ports:
            - { name: http, containerPort: {{ .port }} }
            - { name: metrics, containerPort: 9464 }
          env: {{- include "trestle.env" . | trim | nindent 12 }}
          startupProbe:
            httpGet: { path: /livez, port: http }
            periodSeconds: 2
            # A subgraph migrates before it listens: when its pod is killed, the migration starts from the beginning.
            failureThreshold: {{ div (add (int64 $values.startupSeconds) 1) 2 }}
          livenessProbe:
            httpGet: { path: /livez, port: http }
            timeoutSeconds: 3
            failureThreshold: 6
          readinessProbe:
            httpGet: { path: /readyz, port: http }
            periodSeconds: 2
            timeoutSeconds: 2
            failureThreshold: 2
          resources: {{- toYaml $values.resources | nindent 12 }}
          securityContext:
            allowPrivilegeEscalation: false
            readOnlyRootFilesystem: true
            capabilities: { drop: [ALL] }
          volumeMounts:
            - { name: temporary, mountPath: /tmp }
            - { name: keys, mountPath: /run/secrets/trestle, readOnly: true }
            {{- if and .files (not $root.Values.files.s3.bucket) }}
            - { name: files, mountPath: /files }
            {{- end }}
      volumes:
        - { name: temporary, emptyDir: {} }
        {{- if and .files (not $root.Values.files.s3.bucket) }}
        - name: files
          persistentVolumeClaim: { claimName: {{ include "trestle.filesClaim" $root }} }
        {{- end }}
        - name: keys
          secret:
            secretName: {{ $root.Values.secrets.keys }}
            defaultMode: 0440
            items:
              {{- range .keys }}
              - { key: {{ . }}, path: {{ . }} }
              {{- end }}
---
apiVersion: v1
kind: Service
metadata:
  name: {{ include "trestle.name" (list $root .name) }}
  labels: {{- include "trestle.labels" (list $root .name) | nindent 4 }}
spec:
  selector: {{- include "trestle.selector" (list $root .name) | nindent 4 }}
  ports:
    - { name: http, port: {{ .port }}, targetPort: http }
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ include "trestle.name" (list $root .name) }}
  labels: {{- include "trestle.labels" (list $root .name) | nindent 4 }}
spec:
  minAvailable: {{ $values.minAvailable }}
  selector:
    matchLabels: {{- include "trestle.selector" (list $root .name) | nindent 6 }}
{{- if $values.autoscaling.enabled }}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: {{ include "trestle.name" (list $root .name) }}
  labels: {{- include "trestle.labels" (list $root .name) | nindent 4 }}
spec:
  scaleTargetRef:
    apiVersion: apps/v1
    kind: Deployment
    name: {{ include "trestle.name" (list $root .name) }}
  minReplicas: {{ $values.autoscaling.minReplicas }}
  maxReplicas: {{ $values.autoscaling.maxReplicas }}
  metrics:
    - type: Resource
      resource:
        name: cpu
        target: { type: Utilization, averageUtilization: {{ $values.autoscaling.targetCpuPercent }} }
{{- end }}
{{- end }}
