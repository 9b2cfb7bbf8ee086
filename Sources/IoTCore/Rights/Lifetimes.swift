/// The allowed lifetimes of what the hub issues, in seconds.
public enum Lifetimes {
    /// Link tokens, API tokens and media keys: at most ten years.
    public static let credentials: ClosedRange<Int64> = 1...315_360_000
    public static let enrolments: ClosedRange<Int64> = 1...3_600
    /// Temporary accounts: one minute to a week.
    public static let temporaryAccounts: ClosedRange<Int64> = 60...604_800
    /// Subscription tokens: at most a week.
    public static let subscriptions: ClosedRange<Int64> = 1...604_800
}
