/// How long what the hub gives may live, in seconds.
public enum Lifetimes {
    /// Link tokens, API tokens and media keys: to ten years.
    public static let credentials: ClosedRange<Int64> = 1...315_360_000
    public static let enrolments: ClosedRange<Int64> = 1...3_600
    /// Temporary accounts: one minute to a week.
    public static let temporaryAccounts: ClosedRange<Int64> = 60...604_800
    /// Subscription tokens: to a week.
    public static let subscriptions: ClosedRange<Int64> = 1...604_800
}
