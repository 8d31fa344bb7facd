package api

var Distrust = distrust
