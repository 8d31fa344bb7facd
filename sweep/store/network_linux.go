package store

import "golang.org/x/sys/unix"

// networkFileSystem names the kind of network file system that a folder is on, or returns "".
// SQLite's write-ahead log needs memory shared between processes of one machine
// (sqlite.org/wal.html), which these do not give. Numbers: statfs(2).
func networkFileSystem(folder string) string {
	var st unix.Statfs_t
	if unix.Statfs(folder, &st) != nil {
		return ""
	}
	return map[uint32]string{
		unix.NFS_SUPER_MAGIC: "NFS", unix.SMB_SUPER_MAGIC: "SMB", unix.CIFS_SUPER_MAGIC: "CIFS",
		unix.SMB2_SUPER_MAGIC: "SMB",
		unix.AFS_SUPER_MAGIC:  "AFS", unix.CEPH_SUPER_MAGIC: "Ceph", unix.V9FS_MAGIC: "9p",
		unix.CODA_SUPER_MAGIC: "Coda",
		unix.FUSE_SUPER_MAGIC: "FUSE", 0x0bd00bd0: "Lustre", 0x47504653: "GPFS",
		0x19830326: "BeeGFS",
	}[uint32(st.Type)]
}
