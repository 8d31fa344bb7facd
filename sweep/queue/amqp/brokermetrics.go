package amqp

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Bounds of one look at the broker's metrics.
const (
	scrapeTimeout   = 2 * time.Second
	maxMetricsBytes = 16 << 20
)

// The broker's metrics of single queues
// (https://www.rabbitmq.com/docs/prometheus#detailed-endpoint); from 3.10 on. They are as old as
// its collect_statistics_interval, 5 s.
const (
	unackedPath   = "/metrics/detailed?family=queue_coarse_metrics"
	unackedFamily = "rabbitmq_detailed_queue_messages_unacked"
)

// scraper asks no proxy: metrics are on the cluster's own network.
var scraper = &http.Client{Timeout: scrapeTimeout,
	Transport: &http.Transport{MaxIdleConnsPerHost: 1, IdleConnTimeout: time.Minute}}

// isMetricsAddress reports whether an address may be asked for metrics; none may be given.
func isMetricsAddress(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (address == "" || u.Scheme == "http" && u.Host != "" && u.User == nil &&
		u.Path == "" && u.RawQuery == "")
}

// scrapeUnacked is how many messages of each queue somebody has and did not acknowledge. What is
// not known is left out: these are figures for people, and a broker without them works as well.
func (h *MasterEndpoint) scrapeUnacked(ctx context.Context) map[string]int {
	if h.metrics == "" {
		return nil
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, h.metrics+unackedPath, nil)
	if err != nil {
		return nil
	}
	response, err := scraper.Do(request)
	if err != nil {
		return nil
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil
	}
	all, err := readUnacked(io.LimitReader(response.Body, maxMetricsBytes),
		h.endpoint.address.vhost)
	if err != nil {
		h.endpoint.log.Debug("the broker's metrics cannot be read", "error", err)
	}
	return all
}

// readUnacked picks the figure from metrics in Prometheus' text form.
func readUnacked(from io.Reader, vhost string) (map[string]int, error) {
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(from)
	if err != nil {
		return nil, err
	}
	family := families[unackedFamily]
	if family == nil {
		return nil, errors.New("they say nothing of messages that are not acknowledged")
	}
	all := map[string]int{}
	for _, m := range family.GetMetric() {
		labels := map[string]string{}
		for _, l := range m.GetLabel() {
			labels[l.GetName()] = l.GetValue()
		}
		if labels["vhost"] == vhost {
			all[labels["queue"]] = int(m.GetGauge().GetValue())
		}
	}
	return all, nil
}
