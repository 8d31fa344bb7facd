package folder

// LimitWatches lets a store have at most so many watches, once it has prepared a project.
func (s *Store) LimitWatches(most int) {
	s.watcher.mu.Lock()
	defer s.watcher.mu.Unlock()
	s.watcher.most = most
}

// Watches counts the watches of a store.
func (s *Store) Watches() int {
	s.watcher.mu.Lock()
	defer s.watcher.mu.Unlock()
	return len(s.watcher.targets)
}
