/// HTTP header fields that the API adds to the standard ones.
public enum APIHeader {
    /// On snapshots: the picture's presentation time, in µs on the source's clock.
    public static let pts = "Iotvideo-Pts"

    /// A trailer (RFC 9110 §6.5) of streaming bodies: the number of complete frames dropped because the reader was too
    /// slow.
    public static let framesDropped = "Iotvideo-Frames-Dropped"

    /// On requests that change something: 1–64 characters of `A–Z a–z 0–9 _ - .`. A repeated request within 10 minutes
    /// gets the first response and is not executed again.
    public static let idempotencyKey = "Idempotency-Key"
}
