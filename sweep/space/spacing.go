package space

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// The values of ranges are computed with many more digits than they keep, in software, so that they
// are the same on every machine: processors differ in the last digits of logarithms.
const (
	precision   = 320 // bits: 96 digits
	exactDigits = 40  // what is closer than these is equal, so that a half is rounded as one
)

// linear returns the texts of the values between the ends.
func (g *ranged) linear(n int) []string {
	places := max(g.numbers[0].places, g.numbers[1].places)
	start, distance := g.numbers[0].scaled(places), g.numbers[1].scaled(places)
	distance.Sub(distance, start)
	start.Mul(start, big.NewInt(int64(n-1)))
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(places)), nil)
	divisor := new(big.Float).SetInt(unit.Mul(unit, big.NewInt(int64(n-1))))
	texts, v := make([]string, n-2), new(big.Float).SetPrec(precision)
	for i := range texts {
		start.Add(start, distance)
		texts[i] = significant(v.Quo(v.SetInt(start), divisor))
	}
	return texts
}

// logarithmic returns the texts of the values between the ends: each is the one before it times the
// same factor, a root of the ratio of the ends.
func (g *ranged) logarithmic(n int) []string {
	bits := uint(precision)
	if g.tag == "!logint" { // all digits are kept
		bits += uint(max(g.integer(0).BitLen(), g.integer(1).BitLen()))
	}
	ends := [2]*big.Float{}
	for i := range ends {
		ends[i] = new(big.Float).SetPrec(bits).SetRat(g.rational(i))
	}
	factor := root(new(big.Float).Quo(ends[1], ends[0]), n-1)
	texts, v := make([]string, n-2), ends[0]
	for i := range texts {
		if v.Mul(v, factor); g.tag == "!logint" {
			texts[i] = whole(v)
		} else {
			texts[i] = significant(v)
		}
	}
	return texts
}

// root returns the nth root of a positive number, by Newton's method.
func root(of *big.Float, n int) *big.Float {
	mantissa := new(big.Float)
	exponent := of.MantExp(mantissa)
	m, _ := mantissa.Float64()
	power, fraction := math.Modf((math.Log2(m) + float64(exponent)) / float64(n))
	x := new(big.Float).SetPrec(of.Prec()).SetFloat64(math.Exp2(fraction))
	x.SetMantExp(x, int(power))
	count := new(big.Float).SetInt64(int64(n))
	// Each step doubles the digits that are right, of which 9 are after the first.
	for right := 9; right < int(of.Prec()); right *= 2 {
		p := raised(x, n)
		step := new(big.Float).Sub(of, p)
		step.Quo(step, p.Mul(p, count))
		x.Add(x, step.Mul(step, x))
	}
	return x
}

// raised returns the nth power of a number, by squares.
func raised(x *big.Float, n int) *big.Float {
	p, square := new(big.Float).SetPrec(x.Prec()).SetInt64(1), new(big.Float).Copy(x)
	for ; n > 0; n /= 2 {
		if n%2 == 1 {
			p.Mul(p, square)
		}
		square.Mul(square, square)
	}
	return p
}

// whole returns a positive number rounded to a whole one, halves up.
func whole(v *big.Float) string {
	text, fraction, _ := strings.Cut(v.Text('f', exactDigits), ".")
	if fraction[0] < '5' {
		return text
	}
	n, _ := new(big.Int).SetString(text, 10)
	return n.Add(n, big.NewInt(1)).String()
}

// significant returns a number with as many digits as it needs, at most rangeDigits, halves rounded
// away from 0, and an exponent where that is shorter to read.
func significant(v *big.Float) string {
	text, negative := strings.CutPrefix(manyDigits(v), "-")
	mantissa, power, _ := strings.Cut(text, "e")
	exponent, _ := strconv.Atoi(power)
	kept, _ := strconv.Atoi(mantissa[:1] + mantissa[2:1+rangeDigits])
	if mantissa[1+rangeDigits] >= '5' {
		kept++
	}
	digits := strconv.Itoa(kept)
	exponent += max(len(digits)-rangeDigits, 0) // 9.9999999 became 10
	digits = strings.TrimRight(digits, "0")
	if digits == "" {
		return "0"
	}
	if exponent < -4 || exponent > 15 {
		if len(digits) > 1 {
			digits = digits[:1] + "." + digits[1:]
		}
		if negative {
			digits = "-" + digits
		}
		return digits + "e" + strconv.Itoa(exponent)
	}
	places := len(digits) - 1 - exponent
	if places < 0 {
		digits, places = digits+strings.Repeat("0", -places), 0
	}
	return string(appendPoint(nil, negative, []byte(digits), places))
}

// manyDigits returns a number with enough digits to be rounded. Those of a float64 are found
// sooner, and are enough unless a half, or almost one, follows the digits that are kept.
func manyDigits(v *big.Float) string {
	const digits = 17
	var buffer [exactDigits + 20]byte
	if f, _ := v.Float64(); math.Abs(f) > 1e-300 && !math.IsInf(f, 0) {
		text := string(strconv.AppendFloat(buffer[:0], f, 'e', digits-1, 64))
		rest := text[strings.IndexByte(text, '.')+rangeDigits:][:digits-rangeDigits]
		if !strings.HasPrefix(rest, "50000") && !strings.HasPrefix(rest, "49999") {
			return text
		}
	}
	return string(v.Append(buffer[:0], 'e', exactDigits-1))
}
