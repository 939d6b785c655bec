package bench

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
)

// Resource is the collection that the benchmark reads.
var Resource = schema.GroupVersionResource{Group: "bench.example.com", Version: "v1", Resource: "slices"}

// Slice is the benchmark's object as a Go author would declare it. It names
// every field that the generated objects have, so it drops nothing.
type Slice struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              SliceSpec   `json:"spec"`
	Status            SliceStatus `json:"status"`
}

// SliceSpec is what an author of a Slice wishes.
type SliceSpec struct {
	Export    ExportReference `json:"export"`
	Partition string          `json:"partition"`
	Replicas  int64           `json:"replicas"`
	Paused    bool            `json:"paused"`
	Selector  Selector        `json:"selector"`
}

// ExportReference names an export.
type ExportReference struct {
	Path string `json:"path"`
	Name string `json:"name"`
}

// Selector chooses by labels.
type Selector struct {
	MatchLabels map[string]string `json:"matchLabels"`
}

// SliceStatus is what a controller says about a Slice.
type SliceStatus struct {
	ObservedGeneration int64              `json:"observedGeneration"`
	Endpoints          []Endpoint         `json:"endpoints"`
	Conditions         []metav1.Condition `json:"conditions"`
}

// Endpoint is one published address.
type Endpoint struct {
	URL string `json:"url"`
}

// SliceList is one page of a list.
type SliceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []Slice `json:"items"`
}

// DeepCopyObject copies what a decoder may go on to change.
func (s *Slice) DeepCopyObject() runtime.Object {
	out := *s
	s.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Status.Endpoints = append([]Endpoint(nil), s.Status.Endpoints...)
	out.Status.Conditions = append([]metav1.Condition(nil), s.Status.Conditions...)
	out.Spec.Selector.MatchLabels = make(map[string]string, len(s.Spec.Selector.MatchLabels))
	for key, value := range s.Spec.Selector.MatchLabels {
		out.Spec.Selector.MatchLabels[key] = value
	}
	return &out
}

// DeepCopyObject copies the list and its items.
func (l *SliceList) DeepCopyObject() runtime.Object {
	out := *l
	out.Items = make([]Slice, len(l.Items))
	for i := range l.Items {
		out.Items[i] = *l.Items[i].DeepCopyObject().(*Slice)
	}
	return &out
}

func codecs() serializer.CodecFactory {
	scheme := runtime.NewScheme()
	version := Resource.GroupVersion()
	scheme.AddKnownTypes(version, &Slice{}, &SliceList{})
	metav1.AddToGroupVersion(scheme, version)
	return serializer.NewCodecFactory(scheme)
}
