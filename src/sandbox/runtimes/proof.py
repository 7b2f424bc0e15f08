"""Reads from a macro's text whether it can change anything but values of its own."""

import ast
import builtins

# Names of the language that read and compute; the rest (setattr, globals, type, super, …) reaches what others see.
NAMES = set(
    "abs all any bin bool bytes chr complex dict divmod enumerate filter float format frozenset hash hex int isinstance iter len list map max min next oct ord "
    "pow print range repr reversed round set slice sorted str sum tuple zip True False None Ellipsis NotImplemented".split()
) | {name for name, value in vars(builtins).items() if isinstance(value, type) and issubclass(value, Exception)}

# Modules whose functions below give new values and keep nothing that another item could see.
MODULES = set(
    "math cmath statistics json datetime re itertools functools collections fractions string bisect heapq numpy scipy pandas "
    "scipy.stats scipy.optimize scipy.signal scipy.interpolate scipy.integrate".split()
)

# Attributes, by what has them. Whatever they are taken from, none leads from an allowed name to something that is shared and can be changed, and none takes
# the name of a function as text (agg, apply, eval, query) or writes a file.
PLAIN = """
    append extend insert pop remove sort reverse index count clear copy get items keys values update setdefault popitem add discard union intersection
    difference symmetric_difference issubset issuperset isdisjoint appendleft popleft extendleft rotate most_common elements fromkeys capitalize casefold
    startswith endswith find rfind isalpha isdigit isnumeric isdecimal isalnum isspace islower isupper join lower upper title strip lstrip rstrip
    partition rpartition replace split rsplit splitlines zfill ljust rjust center format encode decode swapcase bit_length is_integer real imag conjugate
    args numerator denominator Fraction limit_denominator ascii_letters ascii_lowercase ascii_uppercase digits punctuation Counter OrderedDict defaultdict
    deque reduce partial chain from_iterable combinations permutations product accumulate groupby repeat cycle islice takewhile dropwhile zip_longest
    starmap pairwise compress bisect bisect_left bisect_right insort heappush heappop heapify nlargest nsmallest dumps loads compile match search findall
    finditer sub fullmatch group groups groupdict start end span IGNORECASE MULTILINE I
"""
NUMBERS = """
    sqrt cbrt exp exp2 log log10 log2 log1p expm1 pow sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh floor ceil trunc fabs fmod fsum
    hypot degrees radians isnan isinf isfinite pi e inf nan tau gcd lcm factorial comb perm prod dist erf erfc gamma lgamma copysign isclose isqrt phase
    polar rect mean fmean median median_low median_high mode multimode stdev pstdev variance pvariance quantiles geometric_mean harmonic_mean correlation
    covariance linear_regression slope intercept
"""
TIMES = """
    datetime date time timedelta timezone utc strptime strftime isoformat fromisoformat fromtimestamp timestamp total_seconds days seconds microseconds
    year month day hour minute second microsecond weekday isoweekday isocalendar now today combine astimezone toordinal fromordinal
"""
NUMPY = """
    array asarray arange linspace logspace zeros ones full zeros_like ones_like full_like std var sum min max amin amax argmin argmax percentile quantile
    nanmean nanmedian nanstd nanvar nansum nanmin nanmax nanpercentile nanquantile diff cumsum cumprod argsort unique where clip around round abs absolute
    square arctan arctan2 arcsin arccos rint sign mod polyfit polyval interp dot matmul outer inner cross linalg lstsq solve inv pinv det norm eig eigh
    svd matrix_rank trapz gradient convolve correlate corrcoef cov histogram digitize bincount concatenate stack vstack hstack column_stack reshape ravel
    flatten transpose T shape size ndim dtype astype tolist item logical_and logical_or logical_not logical_xor maximum minimum power nan_to_num average
    ptp searchsorted meshgrid tile roll flip float64 float32 int64 int32 bool_ count_nonzero nonzero argwhere allclose array_equal take divide multiply
    subtract true_divide floor_divide negative newaxis eye identity diag deg2rad rad2deg triu tril fft rfft ifft irfft fftfreq rfftfreq
"""
PANDAS = """
    DataFrame Series to_datetime to_numeric concat merge isna isnull notna notnull dropna fillna ffill bfill head tail iloc loc at iat columns dtypes
    describe to_dict to_numpy to_list sort_values sort_index reset_index set_index rename drop drop_duplicates duplicated nunique value_counts isin
    between rolling expanding ewm shift pct_change corr sem skew kurt first last nth idxmax idxmin mask iterrows itertuples str dt contains len name cut
    qcut melt stack unstack assign interpolate rank cummax cummin applymap ngroups size explode
"""
SCIPY = """
    stats linregress pearsonr spearmanr kendalltau ttest_ind ttest_rel ttest_1samp f_oneway mannwhitneyu wilcoxon shapiro kruskal zscore rvalue pvalue
    stderr intercept_stderr statistic optimize curve_fit minimize minimize_scalar least_squares brentq root_scalar root x fun success nit cost jac
    hess_inv signal savgol_filter find_peaks butter filtfilt sosfiltfilt lfilter medfilt detrend peak_prominences peak_widths interp1d UnivariateSpline
    CubicSpline PchipInterpolator integrate quad simpson trapezoid cumulative_trapezoid norm t pdf cdf ppf sf
"""
ATTRIBUTES = set((PLAIN + NUMBERS + TIMES + NUMPY + PANDAS + SCIPY).split())

# Statements and expressions whose effects are these names' and attributes'. A class may define what operators do, a `with` and a `match` ask for more.
FORMS = (
    ast.FunctionDef, ast.Lambda, ast.arguments, ast.arg, ast.Return, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Delete, ast.For, ast.While, ast.If, ast.Expr,
    ast.Pass, ast.Break, ast.Continue, ast.Raise, ast.Try, ast.ExceptHandler, ast.Assert, ast.Import, ast.ImportFrom, ast.alias, ast.Global, ast.Nonlocal,
    ast.BoolOp, ast.NamedExpr, ast.BinOp, ast.UnaryOp, ast.IfExp, ast.Dict, ast.Set, ast.List, ast.Tuple, ast.ListComp, ast.SetComp, ast.DictComp,
    ast.GeneratorExp, ast.comprehension, ast.Compare, ast.Call, ast.keyword, ast.Starred, ast.JoinedStr, ast.FormattedValue, ast.Constant, ast.Attribute,
    ast.Subscript, ast.Slice, ast.Name, ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop,
)  # fmt: skip


def given_names(tree):
    """Names that the text itself gives a value."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, (ast.FunctionDef, ast.ExceptHandler)) and node.name is not None:
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.alias):
            yield node.asname or node.name.partition(".")[0]


def imports_plainly(node):
    if isinstance(node, ast.Import):
        return all(alias.name in MODULES for alias in node.names)
    return node.level == 0 and node.module in MODULES and all(alias.name in ATTRIBUTES for alias in node.names)


def keeps_to_itself(tree, offered):
    """
    True when nothing that runs this text differs afterwards: it uses only `offered` names (of the harness), names of its own and what is listed above, and
    stores nothing in an attribute. Such items may share an interpreter; False says nothing more than that it could not be read from the text.
    """
    allowed = {*NAMES, *offered, *(name for name in given_names(tree) if not hasattr(builtins, name) and not name.startswith("__"))}
    for node in ast.walk(tree):
        if not isinstance(node, (*FORMS, ast.Module)):
            return False
        if isinstance(node, ast.Name) and node.id not in allowed:
            return False
        if isinstance(node, ast.Attribute) and not (node.attr in ATTRIBUTES and isinstance(node.ctx, ast.Load)):
            return False
        if isinstance(node, (ast.Import, ast.ImportFrom)) and not imports_plainly(node):
            return False
    return True


def imported_modules(tree):
    """Names of the modules that the text imports, wherever it does."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module is not None:
            yield node.module
