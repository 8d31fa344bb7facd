package broker

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
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

// certify makes an authority and a certificate for ServerName that it signs.
func certify(random io.Reader, from, until time.Time) (authority, server Pair, err error) {
	issuer := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "mlframework cluster"}, NotBefore: from, NotAfter: until,
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true, KeyUsage: x509.KeyUsageCertSign,
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), random)
	if err != nil {
		return Pair{}, Pair{}, err
	}
	if authority, err = sign(random, issuer, issuer, key, key); err != nil {
		return Pair{}, Pair{}, err
	}
	server, err = authority.issue(random, []string{ServerName}, from, until)
	return authority, server, err
}

// issue makes a certificate for names and addresses that the authority signs.
func (p Pair) issue(random io.Reader, names []string, from, until time.Time) (Pair, error) {
	issuer, err := tls.X509KeyPair(p.Certificate, p.Key)
	if err != nil {
		return Pair{}, err
	}
	serial, err := rand.Int(random, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return Pair{}, err
	}
	c := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "mlframework"}, NotBefore: from, NotAfter: until,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			c.IPAddresses = append(c.IPAddresses, ip)
		} else {
			c.DNSNames = append(c.DNSNames, name)
		}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), random)
	if err != nil {
		return Pair{}, err
	}
	return sign(random, c, issuer.Leaf, key, issuer.PrivateKey)
}

func sign(random io.Reader, c, issuer *x509.Certificate, key *ecdsa.PrivateKey, issuerKey any) (Pair, error) {
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
