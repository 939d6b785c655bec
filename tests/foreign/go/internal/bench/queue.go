package bench

import (
	"fmt"

	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"

	"kcpctl.dev/foreign/internal/usage"
)

type queue = workqueue.TypedInterface[cache.ObjectName]

var queues = map[string]func() queue{
	"workqueue":     func() queue { return workqueue.NewTyped[cache.ObjectName]() },
	"priorityqueue": func() queue { return priorityqueue.New[cache.ObjectName]("bench") },
}

// ways are those in which a controller uses a queue: "drain" adds all keys
// before its one worker starts, "single" adds, takes and finishes each in turn.
var ways = map[string]func(queue, []cache.ObjectName){
	"drain": func(q queue, names []cache.ObjectName) {
		for _, name := range names {
			q.Add(name)
		}
		for range names {
			visit(q)
		}
	},
	"single": func(q queue, names []cache.ObjectName) {
		for _, name := range names {
			q.Add(name)
			visit(q)
		}
	},
}

// MeasureQueues passes keys through each queue in each way, and gives cycles a
// second and CPU microseconds a cycle. A cycle is one key added, taken, done.
func MeasureQueues(keys int) (map[string]float64, error) {
	names := make([]cache.ObjectName, keys)
	for i := range names {
		names[i] = cache.ObjectName{Namespace: "default", Name: fmt.Sprintf("slice-%06d", i)}
	}
	found := map[string]float64{}
	for queueName, newQueue := range queues {
		for wayName, way := range ways {
			if err := measureQueue(found, queueName+"_"+wayName, newQueue(), way, names); err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}

func measureQueue(
	found map[string]float64, name string, q queue, way func(queue, []cache.ObjectName), names []cache.ObjectName,
) error {
	defer q.ShutDown()
	before, err := usage.Now()
	if err != nil {
		return err
	}
	way(q, names)
	after, err := usage.Now()
	found[name+"_cycles_per_s"] = float64(len(names)) / before.Seconds(after)
	found[name+"_cpu_us_per_cycle"] = before.Microseconds(after, len(names))
	return err
}

func visit(q queue) {
	name, shutdown := q.Get()
	if shutdown {
		panic("nobody has shut this queue down")
	}
	q.Done(name)
}
