// The demo's people: a login is all they have.

/** A user as GitHub shows one inside other things. */
export const user = (request, login) => ({
  login,
  id: [...login].reduce((sum, char) => sum + char.charCodeAt(0), 9000),
  type: login.endsWith("-bot") ? "Bot" : "User",
  html_url: `${request.origin}/${login}`,
});

/** The login that the demo's token belongs to. */
export const TOKEN_LOGIN = "demo-standing-orders-bot";
