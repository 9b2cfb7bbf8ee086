/// Names and passwords with everything that an escaping rule can get wrong.
let awkwardTexts = [
    "HomeNet!", #"a"b"c"d"ef"#, #"""quoted"""#, "semi;colon;;;", #"back\slash\\end\"#, "percent%20%%41",
    "  two spaces  ", "家里的无线网", "colon:comma,", #"\;,":%20 家"#, "ünïcødé", "WIFI:S:x;;", "P:T:WPA;", "DEADBEEF",
    "'$(x)`",
    "00ff0a0b", "🏠📷🏠",
]
