package server

// SyncFile is what brings a file or folder to the disk.
var SyncFile = &syncFile
