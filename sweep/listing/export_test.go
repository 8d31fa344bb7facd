package listing

// GiveUpAfter has a filter give up after so many tasks without a row of which it picks none.
func (a *Archive) GiveUpAfter(tasks int64) { a.unmatched = tasks }
