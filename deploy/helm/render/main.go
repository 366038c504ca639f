// Renders a Helm chart where Helm itself is not installed, as `helm template NAME CHART --values FILE` does: with the same template engine (Go's
// text/template), the same functions (sprig) and the same YAML library, all of which Debian packages (golang-go, golang-github-masterminds-sprig-dev,
// golang-k8s-sigs-yaml-dev). It leaves out what this chart does not use: subcharts, hooks, lookup and values that name templates.
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"sigs.k8s.io/yaml"
)

func main() {
	if len(os.Args) < 3 {
		fail(fmt.Errorf("usage: render RELEASE CHART [VALUES...]"))
	}
	output, err := render(os.Args[1], os.Args[2], os.Args[3:])
	if err != nil {
		fail(err)
	}
	fmt.Print(output)
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// Returns the rendered objects of a chart, each template under its path, in the order of their paths.
func render(release string, chart string, valueFiles []string) (string, error) {
	values := map[string]interface{}{}
	for _, file := range append([]string{filepath.Join(chart, "values.yaml")}, valueFiles...) {
		read, err := readYaml(file)
		if err != nil {
			return "", err
		}
		values = merge(values, read)
	}
	about, err := readYaml(filepath.Join(chart, "Chart.yaml"))
	if err != nil {
		return "", err
	}
	root, err := parse(chart)
	if err != nil {
		return "", err
	}
	context := map[string]interface{}{
		"Values":  values,
		"Chart":   map[string]interface{}{"Name": about["name"], "Version": about["version"], "AppVersion": about["appVersion"]},
		"Release": map[string]interface{}{"Name": release, "Namespace": "default", "Service": "Helm", "IsInstall": true, "Revision": 1},
	}
	return execute(root, context)
}

func readYaml(file string) (map[string]interface{}, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	read := map[string]interface{}{}
	if err := yaml.Unmarshal(content, &read); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return read, nil
}

// Returns `base` with the values of `over`: objects are merged, everything else is replaced, null removes a value.
func merge(base map[string]interface{}, over map[string]interface{}) map[string]interface{} {
	for name, value := range over {
		inner, isObject := value.(map[string]interface{})
		known, wasObject := base[name].(map[string]interface{})
		switch {
		case value == nil:
			delete(base, name)
		case isObject && wasObject:
			base[name] = merge(known, inner)
		default:
			base[name] = value
		}
	}
	return base
}

func parse(chart string) (*template.Template, error) {
	root := template.New("chart").Option("missingkey=zero")
	functions := sprig.TxtFuncMap()
	functions["include"] = func(name string, data interface{}) (string, error) {
		var text bytes.Buffer
		err := root.ExecuteTemplate(&text, name, data)
		return text.String(), err
	}
	functions["toYaml"] = func(value interface{}) string {
		text, err := yaml.Marshal(value)
		if err != nil {
			return ""
		}
		return strings.TrimSuffix(string(text), "\n")
	}
	functions["required"] = func(message string, value interface{}) (interface{}, error) {
		if value == nil || value == "" {
			return nil, fmt.Errorf("%s", message)
		}
		return value, nil
	}
	root.Funcs(functions)
	files, err := filepath.Glob(filepath.Join(chart, "templates", "*"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if _, err := root.New(filepath.Base(file)).Parse(string(content)); err != nil {
			return nil, err
		}
	}
	return root, nil
}

func execute(root *template.Template, context interface{}) (string, error) {
	names := []string{}
	for _, each := range root.Templates() {
		if strings.HasSuffix(each.Name(), ".yaml") {
			names = append(names, each.Name())
		}
	}
	sort.Strings(names)
	var output strings.Builder
	for _, name := range names {
		var text bytes.Buffer
		if err := root.ExecuteTemplate(&text, name, context); err != nil {
			return "", err
		}
		// As Helm does, Go's text for a missing value is left out.
		rendered := strings.TrimSpace(strings.ReplaceAll(text.String(), "<no value>", ""))
		if rendered == "" {
			continue
		}
		fmt.Fprintf(&output, "---\n# Source: trestle/templates/%s\n%s\n", name, strings.TrimSpace(strings.TrimPrefix(rendered, "---")))
	}
	return output.String(), nil
}
