package bench

import (
	"fmt"

	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"

	"kcpctl.dev/foreign/internal/usage"
)

// QueueFigures is what one way of using one queue costs. A cycle is one key
// added, taken and done.
type QueueFigures struct {
	CyclesPerS float64 `json:"cycles_per_s"`
	CPU        float64 `json:"cpu_us_per_cycle"`
}

// MeasureQueues passes keys through each queue in two ways: "drain" adds them
// all before the one worker starts, "single" adds, takes and finishes one at a
// time.
func MeasureQueues(keys int) (map[string]QueueFigures, error) {
	names := make([]cache.ObjectName, keys)
	for i := range names {
		names[i] = cache.ObjectName{Namespace: "default", Name: fmt.Sprintf("slice-%06d", i)}
	}
	queues := map[string]func() workqueue.TypedInterface[cache.ObjectName]{
		"workqueue":     func() workqueue.TypedInterface[cache.ObjectName] { return workqueue.NewTyped[cache.ObjectName]() },
		"priorityqueue": func() workqueue.TypedInterface[cache.ObjectName] { return priorityqueue.New[cache.ObjectName]("bench") },
	}
	ways := map[string]func(workqueue.TypedInterface[cache.ObjectName], []cache.ObjectName){
		"drain":  drain,
		"single": single,
	}
	found := map[string]QueueFigures{}
	for queueName, make := range queues {
		for wayName, way := range ways {
			figures, err := measureQueue(make(), way, names)
			if err != nil {
				return nil, err
			}
			found[queueName+"_"+wayName] = figures
		}
	}
	return found, nil
}

func measureQueue(
	queue workqueue.TypedInterface[cache.ObjectName],
	way func(workqueue.TypedInterface[cache.ObjectName], []cache.ObjectName),
	names []cache.ObjectName,
) (QueueFigures, error) {
	defer queue.ShutDown()
	before, err := usage.Now()
	if err != nil {
		return QueueFigures{}, err
	}
	way(queue, names)
	after, err := usage.Now()
	return QueueFigures{
		CyclesPerS: float64(len(names)) / before.Seconds(after),
		CPU:        before.Microseconds(after, len(names)),
	}, err
}

func drain(queue workqueue.TypedInterface[cache.ObjectName], names []cache.ObjectName) {
	for _, name := range names {
		queue.Add(name)
	}
	for range names {
		visit(queue)
	}
}

func single(queue workqueue.TypedInterface[cache.ObjectName], names []cache.ObjectName) {
	for _, name := range names {
		queue.Add(name)
		visit(queue)
	}
}

func visit(queue workqueue.TypedInterface[cache.ObjectName]) {
	name, shutdown := queue.Get()
	if shutdown {
		panic("nobody has shut this queue down")
	}
	queue.Done(name)
}
