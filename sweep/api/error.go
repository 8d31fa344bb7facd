package api

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"mlframework/sweep/table"
)

// NeedsParameter is that of an Error about what tasks of a sweep need of a host.
const NeedsParameter = "record.recipe.gpus"

// Error is the JSON with which the API refuses a request, and the error that a Client returns then.
type Error struct {
	Status    int    `json:"-"` // of HTTP
	Text      string `json:"error"`
	Remedy    string `json:"remedy,omitempty"`
	Parameter string `json:"parameter,omitempty"` // the parameter or field that is wrong
	Column    int    `json:"column,omitempty"`    // where in it, in characters from 1; 0: not known

	body []byte // of the answer, for methods that decode more of it
}

func (e *Error) Error() string {
	if e.Remedy == "" {
		return e.Text
	}
	return e.Text + "; " + e.Remedy
}

// SecretsField is the Parameter of an Error for missing values of secrets.
const SecretsField = "secrets"

// Wrong returns the error of a request with an invalid parameter or field.
func Wrong(parameter, text string) *Error {
	return &Error{Status: http.StatusBadRequest, Text: text, Parameter: parameter}
}

// ParseWholeNumber parses a decimal integer without a plus sign; leading zeros are allowed.
func ParseWholeNumber(text string) (int64, error) {
	if strings.HasPrefix(text, "+") {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseInt(text, 10, 64)
}

// ParseOffset parses the After of a page as the page before gave it; "" is the beginning.
func ParseOffset(after string) (int64, error) {
	if after == "" {
		return 0, nil
	}
	n, err := ParseWholeNumber(after)
	if err != nil || n < 0 {
		return 0, WrongAfter(after)
	}
	return n, nil
}

// WrongAfter returns the error of an After that is not the Next of a page.
func WrongAfter(after string) *Error {
	return Wrong("after", after+" is not the next of a page")
}

// UnknownColumn returns the name in a query that no column has; "" where that is not what is wrong.
func UnknownColumn(err error) string {
	if e, ok := errors.AsType[*table.FilterError](err); ok {
		return e.Unknown
	}
	if e, ok := errors.AsType[*table.UnknownColumn](err); ok {
		return e.Name
	}
	return ""
}
