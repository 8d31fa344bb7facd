package expr_test

import (
	"strings"
	"testing"

	"mlframework/sweep/expr"
)

// What an expression means is a contract: the rules of stored sweeps are evaluated again by every
// later release, which has to make the same points of them. A line that changes here needs a new
// version of the stored form of a space.
//
// The characters are what Match says of each value of a with each of b: 1 holds, 0 does not, e is
// an error.
func TestMeaningOfStoredRules(t *testing.T) {
	t.Parallel()
	as := []string{"-2", "-0.5", "0", "0.1", "0.10", "3", "9007199254740993", "x", "True", "3 4"}
	bs := []string{"1", "0.2", "3e0", "9007199254740992", "true", "x"}
	for text, want := range map[string]string{
		"a = b": "000000 000000 000000 000000 000000 001000 000000 " +
			"000001 000010 000000",
		"a == b": "000000 000000 000000 000000 000000 001000 000000 " +
			"000001 000010 000000",
		"a != b": "111111 111111 111111 111111 111111 110111 111111 " +
			"111110 111101 111111",
		"a < b": "1111ee 1111ee 1111ee 1111ee 1111ee 0001ee 0000ee " +
			"eeee00 eeee11 eeee11",
		"a <= b": "1111ee 1111ee 1111ee 1111ee 1111ee 0011ee 0000ee " +
			"eeee01 eeee11 eeee11",
		"a > b": "0000ee 0000ee 0000ee 0000ee 0000ee 1100ee 1111ee " +
			"eeee10 eeee00 eeee00",
		"a >= b": "0000ee 0000ee 0000ee 0000ee 0000ee 1110ee 1111ee " +
			"eeee11 eeee00 eeee00",
		"a ~ ^[0-9]": "000000 000000 111111 111111 111111 111111 111111 " +
			"000000 000000 111111",
		"a !~ x": "111111 111111 111111 111111 111111 111111 111111 " +
			"000000 111111 111111",
		"a in [b, 3]": "000000 000000 000000 000000 000000 111111 000000 " +
			"000001 000010 000000",
		"a not in [x, true, 0.10]": "111111 111111 111111 000000 000000 111111 111111 " +
			"000000 000000 111111",
		"a = '0.10'": "000000 000000 000000 000000 111111 000000 000000 " +
			"000000 000000 000000",
		"a = 9007199254740993": "000000 000000 000000 000000 000000 000000 111111 " +
			"000000 000000 000000",
		"a = 'true'": "000000 000000 000000 000000 000000 000000 000000 " +
			"000000 000000 000000",
		"a = TRUE": "000000 000000 000000 000000 000000 000000 000000 " +
			"000000 111111 000000",
		"not a = b and b != x or a = x": "111110 111110 111110 111110 111110 110110 111110 " +
			"111111 111100 111110",
		"a + b <= 0.3": "1100ee 0100ee 0100ee 0100ee 0100ee 0000ee 0000ee " +
			"eeeeee eeeeee eeeeee",
		"a - b = -0.1": "0000ee 0000ee 0000ee 0100ee 0100ee 0000ee 0000ee " +
			"eeeeee eeeeee eeeeee",
		"a * b > 1": "0000ee 0000ee 0000ee 0001ee 0001ee 1011ee 1111ee " +
			"eeeeee eeeeee eeeeee",
		"b != 0 and a / b < 0.5": "1111ee 1111ee 1111ee 1011ee 1011ee 0001ee 0000ee " +
			"eeeeee eeeeee eeeeee",
		"a / b < 0.5": "1111ee 1111ee 1111ee 1011ee 1011ee 0001ee 0000ee " +
			"eeeeee eeeeee eeeeee",
		"a % b = 0": "1101ee 0001ee 1111ee 0001ee 0001ee 1111ee 1111ee " +
			"eeeeee eeeeee eeeeee",
		"b % 0.2 = 0": "1111ee 1111ee 1111ee 1111ee 1111ee 1111ee 1111ee " +
			"1111ee 1111ee 1111ee",
		"- a < b": "0011ee 1011ee 1111ee 1111ee 1111ee 1111ee 1111ee " +
			"eeeeee eeeeee eeeeee",
		"a < b - 1": "1111ee 1011ee 0011ee 0011ee 0011ee 0001ee 0000ee " +
			"eeeeee eeeeee eeeeee",
		"abs(a) = 0.5": "000000 111111 000000 000000 000000 000000 000000 " +
			"eeeeee eeeeee eeeeee",
		"log(b) < 0": "0100ee 0100ee 0100ee 0100ee 0100ee 0100ee 0100ee " +
			"0100ee 0100ee 0100ee",
		"log2(b) = 0": "1000ee 1000ee 1000ee 1000ee 1000ee 1000ee 1000ee " +
			"1000ee 1000ee 1000ee",
		"log10(a) = -1": "eeeeee eeeeee eeeeee 111111 111111 000000 000000 " +
			"eeeeee eeeeee eeeeee",
		"min(a, b, 1) = 1": "0000ee 0000ee 0000ee 0000ee 0000ee 1011ee 1011ee " +
			"eeeeee eeeeee eeeeee",
		"max(a, b) > 2": "0011ee 0011ee 0011ee 0011ee 0011ee 1111ee 1111ee " +
			"eeeeee eeeeee eeeeee",
		"log(a) < 1 or a = x": "eeeeee eeeeee eeeeee 111111 111111 000000 000000 " +
			"eeeeee eeeeee eeeeee",
		"a = nan": "000000 000000 000000 000000 000000 000000 000000 " +
			"000000 000000 000000",
		"a = ''": "000000 000000 000000 000000 000000 000000 000000 " +
			"000000 000000 000000",
		"a < inf": "111111 111111 111111 111111 111111 111111 111111 " +
			"eeeeee eeeeee eeeeee",
		"a + b % 2 * 3 = 3.1": "0000ee 0000ee 0000ee 1010ee 1010ee 0000ee 0000ee " +
			"eeeeee eeeeee eeeeee",
		"(a = x or a = 3) and not (b = 1 or b = x)": "000000 000000 000000 000000 000000 011110 " +
			"000000 011110 000000 000000",
		"a < x":    "eeeeee eeeeee eeeeee eeeeee eeeeee eeeeee eeeeee 000000 111111 111111",
		"a >= '3'": "eeeeee eeeeee eeeeee eeeeee eeeeee eeeeee eeeeee 111111 111111 111111",
	} {
		e, err := expr.Parse(text, columns{"a": {}, "b": {}})
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		var rows []string
		for _, a := range as {
			var row strings.Builder
			for _, b := range bs {
				values := []expr.Value{expr.ValueOf(a), expr.ValueOf(b)}
				switch holds, err := e.Match(func(slot int) expr.Value { return values[slot] }); {
				case err != nil:
					row.WriteByte('e')
				case holds:
					row.WriteByte('1')
				default:
					row.WriteByte('0')
				}
			}
			rows = append(rows, row.String())
		}
		if got := strings.Join(rows, " "); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", text, got, want)
		}
	}
}
