package api

import "io/fs"

// Distrust returns why a user of two groups, the own and 50, does not send anything to a socket.
func Distrust(file, group int, mode fs.FileMode, listens, me int) string {
	return distrust(socketOwner{file, group, mode, listens}, me, []int{me, 50})
}
