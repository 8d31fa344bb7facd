package api

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"mlframework/sweep/table"
)

// Error is a refusal: what the API answers instead of doing what was asked, and what a Client
// returns then.
type Error struct {
	Status    int    `json:"-"` // of HTTP
	Text      string `json:"error"`
	Remedy    string `json:"remedy,omitempty"`
	Parameter string `json:"parameter,omitempty"` // the parameter or field that is wrong
	Column    int    `json:"column,omitempty"`    // where in it, in characters from 1; 0: not known

	body []byte // of the answer, for who knows more of it
}

func (e *Error) Error() string {
	if e.Remedy == "" {
		return e.Text
	}
	return e.Text + "; " + e.Remedy
}

// SecretsField is the Parameter of a refusal for want of the values of secrets.
const SecretsField = "secrets"

// Wrong is a request that is refused for what it says.
func Wrong(parameter, text string) *Error {
	return &Error{Status: http.StatusBadRequest, Text: text, Parameter: parameter}
}

// ParseWholeNumber reads a whole number as JSON writes it, but that zeros may lead: without a plus.
func ParseWholeNumber(text string) (int64, error) {
	if strings.HasPrefix(text, "+") {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseInt(text, 10, 64)
}

// UnknownColumn is the name in a question that is the name of no column; "" where that is not what
// is wrong.
func UnknownColumn(err error) string {
	if e, ok := errors.AsType[*table.FilterError](err); ok {
		return e.Unknown
	}
	if e, ok := errors.AsType[*table.UnknownColumn](err); ok {
		return e.Name
	}
	return ""
}
