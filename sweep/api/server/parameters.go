package server

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/human"
	"mlframework/sweep/task"
)

// readFollow reads how much of a sweep the client follows, or is about to; "" when it does not say.
func readFollow(r *http.Request) (api.Detail, error) {
	follow := api.Detail(r.URL.Query().Get("follow"))
	if follow != "" && !slices.Contains(api.Details, follow) {
		return "", api.Wrong("follow", "must be counts, tasks or output")
	}
	return follow, nil
}

// readQuery reads what all parameters of filtering and paging say; a route that lacks some has
// refused them.
func readQuery(v url.Values) (q api.Query, err error) {
	q = api.Query{Where: v.Get("where"), Sort: v.Get("sort"), After: v.Get("after")}
	for name := range strings.SplitSeq(v.Get("state"), ",") {
		if !v.Has("state") {
			break
		}
		state, err := task.ParseState(name)
		if err != nil {
			return q, api.Wrong("state", human.Visible(err.Error()))
		}
		q.States = append(q.States, state)
	}
	if q.Best, err = flag(v, "best"); err != nil {
		return q, err
	}
	if q.Issued, err = flag(v, "begun"); err != nil {
		return q, err
	}
	top, err := number(v, "top")
	if err != nil {
		return q, err
	}
	limit, err := number(v, "limit")
	q.Top, q.Limit = int(top), int(limit)
	return q, err
}

// flag reads a parameter that is true or false; absent is false.
func flag(v url.Values, name string) (bool, error) {
	switch text := v.Get(name); text {
	case "true":
		return true, nil
	case "false", "":
		return false, nil
	default:
		return false, api.Wrong(name, human.Visible(text)+" is neither true nor false")
	}
}

// number reads a parameter that is a non-negative integer; absent is 0.
func number(v url.Values, name string) (int64, error) {
	text := v.Get(name)
	if text == "" {
		return 0, nil
	}
	n, err := api.ParseWholeNumber(text)
	if err != nil || n < 0 {
		return 0, api.Wrong(name, human.Visible(text)+" is not a non-negative integer")
	}
	return n, nil
}

func taskIndex(r *http.Request) (int64, error) {
	text := r.PathValue("index")
	index, err := api.ParseWholeNumber(text)
	if err != nil || index < 0 {
		return 0, &core.UnknownTask{Sweep: r.PathValue("sweep"), Index: human.Visible(text)}
	}
	return index, nil
}
