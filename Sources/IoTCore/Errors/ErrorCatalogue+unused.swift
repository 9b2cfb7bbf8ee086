extension ErrorCatalogue {
    /// Reasons that several entries share.
    enum Unused {
        static let recordings = "it comes with recordings and their playback"
        static let downloads = "it comes with downloads of recordings"
    }
}
