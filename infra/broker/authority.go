package broker

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"time"
)

// Pair is a certificate and its key, as PEM.
type Pair struct {
	Certificate []byte `json:"certificate"`
	Key         []byte `json:"key"`
}

// newAuthority makes an authority that signs certificates for ServerName. It is believed for that
// name alone: whoever has its key cannot pass for another site with those who trust it.
func newAuthority(random io.Reader, now time.Time) (Pair, error) {
	number, err := serial(random)
	if err != nil {
		return Pair{}, err
	}
	issuer := &x509.Certificate{
		SerialNumber: number, NotBefore: now.Add(-clockSkew), NotAfter: now.Add(authorityLife),
		// Of several clusters no two are the same issuer.
		Subject: pkix.Name{CommonName: fmt.Sprintf("mlframework cluster %x", number)},
		IsCA:    true, BasicConstraintsValid: true, MaxPathLenZero: true,
		KeyUsage:                    x509.KeyUsageCertSign,
		PermittedDNSDomainsCritical: true, PermittedDNSDomains: []string{ServerName},
		ExcludedIPRanges: []*net.IPNet{
			{IP: net.IPv4zero.To4(), Mask: net.CIDRMask(0, 32)},
			{IP: net.IPv6zero, Mask: net.CIDRMask(0, 128)},
		},
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), random)
	if err != nil {
		return Pair{}, err
	}
	return sign(random, issuer, issuer, key, key)
}

// serial makes a number that no other certificate has.
func serial(random io.Reader) (*big.Int, error) {
	return rand.Int(random, new(big.Int).Lsh(big.NewInt(1), 120))
}

// leaf is a certificate of a server with names and addresses, to be signed.
func leaf(random io.Reader, names []string, from, until time.Time) (*x509.Certificate, error) {
	number, err := serial(random)
	if err != nil {
		return nil, err
	}
	c := &x509.Certificate{
		SerialNumber: number, Subject: pkix.Name{CommonName: "mlframework"},
		NotBefore: from, NotAfter: until, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			c.IPAddresses = append(c.IPAddresses, ip)
		} else {
			c.DNSNames = append(c.DNSNames, name)
		}
	}
	return c, nil
}

// issue makes a certificate for names and addresses that the authority signs.
func (p Pair) issue(random io.Reader, names []string, from, until time.Time) (Pair, error) {
	issuer, err := tls.X509KeyPair(p.Certificate, p.Key)
	if err != nil {
		return Pair{}, err
	}
	c, err := leaf(random, names, from, until)
	if err != nil {
		return Pair{}, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), random)
	if err != nil {
		return Pair{}, err
	}
	return sign(random, c, issuer.Leaf, key, issuer.PrivateKey)
}

// selfSigned makes a certificate for names and addresses that nobody else signs.
func selfSigned(random io.Reader, names []string, from, until time.Time) (Pair, error) {
	c, err := leaf(random, names, from, until)
	if err != nil {
		return Pair{}, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), random)
	if err != nil {
		return Pair{}, err
	}
	return sign(random, c, c, key, key)
}

func sign(random io.Reader, c, issuer *x509.Certificate, key *ecdsa.PrivateKey,
	issuerKey any) (Pair, error) {
	der, err := x509.CreateCertificate(random, c, issuer, &key.PublicKey, issuerKey)
	if err != nil {
		return Pair{}, err
	}
	kept, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return Pair{}, err
	}
	return Pair{
		Certificate: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		Key:         pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: kept}),
	}, nil
}
