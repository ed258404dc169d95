// SPDX-License-Identifier: GPL-2.0 OR MIT

package main

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	admission "k8s.io/api/admissionregistration/v1"
	alpha "k8s.io/api/admissionregistration/v1alpha1"
	core "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// provider makes maps of Object{} and Object.metadata{}, which an apply configuration consists of.
type provider struct{ *types.Registry }

func (p provider) FindStructType(name string) (*types.Type, bool) {
	if name == "Object" || strings.HasPrefix(name, "Object.") {
		return types.NewTypeTypeWithParam(types.NewObjectType(name)), true
	}
	return p.Registry.FindStructType(name)
}

func (p provider) NewValue(name string, fields map[string]ref.Val) ref.Val {
	all := map[string]any{}
	for field, value := range fields {
		all[field] = value
	}
	return p.NativeToValue(all)
}

// evaluator has the variables of a policy.
type evaluator struct {
	env       *cel.Env
	variables map[string]any
	object    any
}

func evaluatorNew(object any) *evaluator {
	registry, err := types.NewRegistry()
	if err != nil {
		panic(err)
	}
	env, err := cel.NewEnv(cel.OptionalTypes(), cel.CustomTypeAdapter(registry), cel.CustomTypeProvider(provider{registry}),
		cel.Variable("object", cel.DynType), cel.Variable("variables", cel.DynType))
	if err != nil {
		panic(err)
	}
	return &evaluator{env: env, variables: map[string]any{}, object: object}
}

// eval evaluates an expression.  It is not type-checked: that needs the schema of the API server.
func (e *evaluator) eval(expression string) (ref.Val, error) {
	ast, issues := e.env.Parse(expression)
	if issues.Err() != nil {
		return nil, issues.Err()
	}
	program, err := e.env.Program(ast)
	if err != nil {
		return nil, err
	}
	value, _, err := program.Eval(map[string]any{"object": e.object, "variables": e.variables})
	return value, err
}

// set adds variables, in their order.
func (e *evaluator) set(name, expression string) error {
	value, err := e.eval(expression)
	if err == nil {
		e.variables[name] = value
	}
	return err
}

// generic is a Pod as a policy has it.
func generic(pod *core.Pod) map[string]any {
	text, err := json.Marshal(pod)
	if err != nil {
		panic(err)
	}
	var object map[string]any
	if err := json.Unmarshal(text, &object); err != nil {
		panic(err)
	}
	return object
}

// annotationsOf takes the annotations out of an apply configuration.
func annotationsOf(value ref.Val) map[string]string {
	found := map[string]string{}
	for _, field := range []string{"metadata", "annotations"} {
		mapper, isMap := value.(traits.Mapper)
		if !isMap {
			return found
		}
		if value, isMap = mapper.Find(types.String(field)); !isMap {
			return found
		}
	}
	mapper := value.(traits.Mapper)
	for it := mapper.Iterator(); it.HasNext() == types.True; {
		key := it.Next()
		found[fmt.Sprint(key.Value())] = fmt.Sprint(mapper.Get(key).Value())
	}
	return found
}

// mutate is the MutatingAdmissionPolicy.
func mutate(policy *alpha.MutatingAdmissionPolicy, pod *core.Pod) error {
	e := evaluatorNew(generic(pod))
	for _, condition := range policy.Spec.MatchConditions {
		if value, err := e.eval(condition.Expression); err != nil || value != types.True {
			return err
		}
	}
	for _, variable := range policy.Spec.Variables {
		if err := e.set(variable.Name, variable.Expression); err != nil {
			return err
		}
	}
	for _, mutation := range policy.Spec.Mutations {
		value, err := e.eval(mutation.ApplyConfiguration.Expression)
		if err != nil {
			return err
		}
		for name, value := range annotationsOf(value) {
			if pod.Annotations == nil {
				pod.Annotations = map[string]string{}
			}
			pod.Annotations[name] = value
		}
	}
	return nil
}

// validate is the ValidatingAdmissionPolicy: the message of the first expression that does not hold.
func validate(policy *admission.ValidatingAdmissionPolicy, pod *core.Pod) (string, error) {
	e := evaluatorNew(generic(pod))
	for _, variable := range policy.Spec.Variables {
		if err := e.set(variable.Name, variable.Expression); err != nil {
			return "", fmt.Errorf("%s: %w", variable.Name, err)
		}
	}
	for _, validation := range policy.Spec.Validations {
		value, err := e.eval(validation.Expression)
		if err != nil {
			return "", err
		}
		if value != types.True {
			return validation.Message, nil
		}
	}
	return "", nil
}

// a Pod of a user, and the answer: the annotations that it has then, or a part of the message
type user struct{ name, pod, annotations, refused string }

var users = []user{
	{"no class", "spec: {containers: [{name: a}]}", "", ""},
	{"another class", "spec: {priorityClassName: batch, containers: [{name: a}]}", "", ""},
	{"gpu-online", "spec: {priorityClassName: gpu-online, containers: [{name: a}]}", "org.kfdprio.priority=high", ""},
	{"gpu-offline", "spec: {priorityClassName: gpu-offline, containers: [{name: a}]}", "org.kfdprio.priority=low", ""},
	{"gpu-offline with other annotations", "metadata: {annotations: {a/b: c}}\nspec: {priorityClassName: gpu-offline, containers: [{name: a}]}",
		"a/b=c org.kfdprio.priority=low", ""},
	{"gpu-offline that asks for high", "metadata: {annotations: {org.kfdprio.priority: high}}\nspec: {priorityClassName: gpu-offline, containers: [{name: a}]}",
		"org.kfdprio.priority=low", ""},
	{"high without a class", "metadata: {annotations: {org.kfdprio.priority: high}}\nspec: {containers: [{name: a}]}", "", "is that of the PriorityClass"},
	{"low without a class", "metadata: {annotations: {org.kfdprio.priority: low}}\nspec: {containers: [{name: a}]}", "", "is that of the PriorityClass"},
	{"high with another class", "metadata: {annotations: {org.kfdprio.priority: high}}\nspec: {priorityClassName: batch, containers: [{name: a}]}", "",
		"is that of the PriorityClass"},
	{"another annotation of kfdprio", "metadata: {annotations: {org.kfdprio.max: \"100\"}}\nspec: {priorityClassName: gpu-online, containers: [{name: a}]}", "",
		"are not for users"},
	{"a share of no class", "spec: {containers: [{name: a, resources: {limits: {kfdprio.org/gpu-share: 1}}}]}", "", ""},
	{"gpu-online with its share", "spec: {priorityClassName: gpu-online, containers: [{name: a, resources: {limits: {kfdprio.org/gpu-online: 1, cpu: 1}}}]}",
		"org.kfdprio.priority=high", ""},
	{"a share of gpu-online without the class", "spec: {containers: [{name: a, resources: {limits: {kfdprio.org/gpu-online: 1}}}]}", "", "shares of the class"},
	{"gpu-offline with a share of gpu-online", "spec: {priorityClassName: gpu-offline, containers: [{name: a}, {name: b, resources: {limits: {kfdprio.org/gpu-online: 1}}}]}",
		"", "shares of the class"},
	{"the same in an init container", "spec: {priorityClassName: gpu-offline, initContainers: [{name: i, resources: {limits: {kfdprio.org/gpu-online: 1}}}], containers: [{name: a}]}",
		"", "shares of the class"},
	{"other resources", "spec: {containers: [{name: a, resources: {limits: {amd.com/gpu: 1, memory: 1Gi}}}]}", "", ""},
}

func annotationsShow(pod *core.Pod) string {
	var all []string
	for name, value := range pod.Annotations {
		all = append(all, name+"="+value)
	}
	sort.Strings(all)
	return strings.Join(all, " ")
}

// policies evaluates the two policies in the order of the API server.
func policies(objects []any) {
	var mutating *alpha.MutatingAdmissionPolicy
	var validating *admission.ValidatingAdmissionPolicy
	var pods []*core.Pod
	bindings := map[string]bool{}

	for _, object := range objects {
		switch found := object.(type) {
		case *alpha.MutatingAdmissionPolicy:
			mutating = found
		case *admission.ValidatingAdmissionPolicy:
			validating = found
		case *alpha.MutatingAdmissionPolicyBinding:
			bindings["mutating "+found.Spec.PolicyName] = true
		case *admission.ValidatingAdmissionPolicyBinding:
			bindings["validating "+found.Spec.PolicyName] = len(found.Spec.ValidationActions) == 1 && found.Spec.ValidationActions[0] == admission.Deny
		case *core.Pod:
			pods = append(pods, found)
		}
	}
	ok(bindings["mutating "+mutating.Name] && bindings["validating "+validating.Name], "policy: both are bound, and deny")
	for _, u := range users {
		pod := new(core.Pod)
		if err := yaml.UnmarshalStrict([]byte("apiVersion: v1\nkind: Pod\n"+u.pod), pod); err != nil {
			panic(err)
		}
		err := mutate(mutating, pod)
		message := ""
		if err == nil {
			message, err = validate(validating, pod)
		}
		passed := err == nil && (message != "") == (u.refused != "") && strings.Contains(message, u.refused) &&
			(u.refused != "" || annotationsShow(pod) == u.annotations)
		what := "admitted"
		if u.refused != "" {
			what = "refused"
		}
		ok(passed, "policy: %s: %s", u.name, what)
		if !passed {
			diag(fmt.Errorf("%v; message %q; annotations %q", err, message, annotationsShow(pod)))
		}
	}
	// an annotation that is added later, by an update
	for _, pod := range pods {
		err := mutate(mutating, pod)
		message, err2 := validate(validating, pod)
		ok(err == nil && err2 == nil && message == "" && pod.Annotations["org.kfdprio.priority"] != "", "policy: the Pod %s of pods.yaml is admitted", pod.Name)
		pod.Annotations["org.kfdprio.priority"] = "normal"
		message, err = validate(validating, pod)
		ok(err == nil && message != "", "policy: an update of its annotation is refused")
	}
}
