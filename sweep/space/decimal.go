package space

import (
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

// decimal is an exact number: coefficient / 10^places.
type decimal struct {
	coefficient *big.Int
	places      int
}

// maxDigits bounds what an exponent can ask for. A float64 reaches from 5e-324 to 1.8e308.
const maxDigits = 400

var (
	decimalForm = regexp.MustCompile(
		`^([-+]?)([0-9][0-9_]*)?(?:\.([0-9][0-9_]*)?)?(?:[eE]([-+]?[0-9]{1,9}))?$`)
	integerForm = regexp.MustCompile(`^[-+]?0(?:x[0-9a-fA-F_]+|o[0-7_]+|b[01_]+)$`)
)

// parseDecimal reads a number as YAML writes it. The problem is "" or what is wrong, to be said
// after the text.
func parseDecimal(text string) (d decimal, problem string) {
	if len(text) > maxDigits {
		return decimal{}, "is too long for a number"
	}
	if integerForm.MatchString(text) {
		n, ok := new(big.Int).SetString(strings.ReplaceAll(text, "_", ""), 0)
		if !ok {
			return decimal{}, "is not a number"
		}
		return decimal{coefficient: n}, ""
	}
	m := decimalForm.FindStringSubmatch(strings.ReplaceAll(text, "_", ""))
	if m == nil || m[2]+m[3] == "" || !decimalForm.MatchString(text) {
		return decimal{}, "is not a number"
	}
	coefficient, _ := new(big.Int).SetString(m[1]+m[2]+m[3], 10)
	if integer := strings.Trim(text, "-+0123456789_") == ""; integer && octal(m[2], coefficient) {
		return decimal{}, "begins with 0, which old YAML reads as octal"
	}
	exponent, _ := strconv.Atoi(m[4])
	if exponent < -maxDigits || exponent > maxDigits {
		return decimal{}, "is too large or too small for a number"
	}
	d = decimal{coefficient: coefficient, places: len(m[3]) - exponent}
	if d.places < 0 {
		d = decimal{coefficient: d.scaled(0)}
	}
	return d, ""
}

// octal reports whether digits are one number to YAML 1.1 and another to YAML 1.2: 010 is 8 or 10,
// while 07 is 7 in both.
func octal(digits string, n *big.Int) bool {
	return len(digits) > 1 && digits[0] == '0' && n.CmpAbs(big.NewInt(8)) >= 0
}

func (d decimal) sign() int { return d.coefficient.Sign() }

// scaled returns the number times 10^places, for places no less than the number has.
func (d decimal) scaled(places int) *big.Int {
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(places-d.places)), nil)
	return power.Mul(power, d.coefficient)
}

// appendPoint appends a number given by its sign, the digits of its magnitude times 10^places, and
// places.
func appendPoint(dst []byte, negative bool, digits []byte, places int) []byte {
	if negative {
		dst = append(dst, '-')
	}
	if places == 0 {
		return append(dst, digits...)
	}
	whole := max(len(digits)-places, 0)
	if whole == 0 {
		dst = append(dst, '0')
	}
	dst = append(append(dst, digits[:whole]...), '.')
	for range places - (len(digits) - whole) {
		dst = append(dst, '0')
	}
	return append(dst, digits[whole:]...)
}
