package master
